// Package exec runs a pipe.Program: it hands ranges of rows to generated code, keeps the
// memory in which sinks collect tuples, organizes hash tables and merges.
//
// In: a Program and Options. Out: a Result of tuples that package kelpie turns into Arrow
// batches. Pipelines run one after the other, each on all threads; each is compiled
// just before it runs, when everything below it is known exactly. Read run.go, then
// worker.go; sinks are in collect.go, build.go and group.go. Results are
// read by reader.go, from tuples or, where columns only pass through (direct.go, late.go), from the table. Where a pipeline needs what only Go
// can compute it runs in stages: stage.go. On a GPU, gpu.go launches kernels over the same ranges.
package exec
