// Package mem is the memory of one query: blocks outside of the Go heap, taken from the pool of
// column and counted by the statement's account, and the loads and stores by which Go code looks
// at what generated code wrote there.
//
// Generated code knows addresses, not Go values, and the collector must not move what it knows.
// Everything is given back at once when the query ends, so nobody has to free what may fail half
// way; Free is for what is large and not needed any more. Read memory.go first.
package mem
