// Package phys decides how pipelines run. A decision is a function from facts to a value that can be
// printed: execution asks it when the facts are known, EXPLAIN asks the same function with what
// statistics say, and so they can only differ where statistics are wrong. Both come by way of
// package compile; emit asks for what it finds out while it writes (groups.go, block.go).
//
// Facts that cost time are asked for when a decision depends on them. There is a file for each
// decision. Read table.go first.
package phys
