// Package pipe cuts an optimized plan into pipelines: a source, operators that
// pass each row on, and a sink that must see all rows before anything above it starts.
//
// In: a plan.Query that opt has finished with. Out: a Program, its pipelines in an
// order that can be run one after the other. Split then cuts those pipelines once more in which
// Go must compute something. Read pipeline.go for the values, cut.go for the cutting, split.go
// for the stages.
package pipe
