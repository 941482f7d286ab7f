// Package exec runs a pipe.Program on the CPU: it hands ranges of rows to generated code and gives sinks what
// it leaves.
//
// In: a Program and Options. Out: a result.Result that session turns into Arrow batches. Pipelines
// run one after the other, each on all threads; each is compiled just before it runs, when
// everything below it is known exactly. Read run.go, then worker.go; sinks are in collect.go,
// build.go, group.go and fold.go, which leave what needs no worker to the packages below: sorting, tables,
// groups, folds. Segments of files are loaded by load. A query whose columns only pass through needs no tuples: direct.go, late.go. Where a
// pipeline needs what only Go can compute it runs in stages: stage.go. WITH RECURSIVE is a loop of pipelines: recursion.go.
package exec
