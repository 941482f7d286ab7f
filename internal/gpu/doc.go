// Package gpu executes programs on an accelerator: one launch per pipeline over a whole table, or, where columns do not
// fit under the limit, over each of a few chunks of rows.
//
// In: a pipe.Program and a device. Out: an exec.Result, as the CPU's executor gives it. Columns of
// tables are copied to the device once and stay there (columns.go, store.go, lease.go), or stream through it (share.go,
// stream.go); what pipelines leave behind (tuples, tables, groups) stays there too, until the result is copied back (result.go).
//
// A buffer that turns out to be too small is made as large as the launch found to be needed, and the
// chunk runs again from the state that it began with (sinks.go, groups.go): nothing is reserved for the worst case,
// nothing is lost or counted twice. What the device cannot do is an error of kind 0A000 before anything
// has run, so that the caller can run the query on the CPU instead.
//
// Read run.go first.
package gpu
