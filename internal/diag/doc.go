// Package diag holds the errors that a user of Kelpie sees: a SQLSTATE code, a
// message, a byte position in the query text, and where we can give one, a hint.
//
// Every stage returns a *Error for bad input and never panics for it. A bug of
// ours is an *Internal instead: it names the stage, keeps the stack, and is what
// Recover makes of a panic, so that a bug fails one query and not the process.
// Format prints either kind for a person, with the source line and a caret.
//
// Start with error.go; format.go draws the caret, suggest.go finds "did you
// mean", codes.go names the SQLSTATEs. The package imports nothing of ours.
package diag
