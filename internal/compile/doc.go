// Package compile walks over the pipelines of a program: facts about what a pipeline reads become decisions (phys), and
// those a fragment (emit).
//
// In: a Program, the Place where it runs, and Facts. Out: a Fragment for each pipeline, when its turn comes. Whoever executes
// (exec, gpu) has measured the facts; EXPLAIN believes statistics, and takes the same walk. Read walk.go first.
package compile
