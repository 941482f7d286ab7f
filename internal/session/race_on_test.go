//go:build race

package session

// raced: the race detector makes Go code ten times slower, while generated code is not watched at all.
// Tests that run the same in many ways then run it in fewer.
const raced = true
