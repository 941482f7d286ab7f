// Package text writes operations on texts: comparison, hashing, LIKE and searches, parts of texts, and the making of
// new ones.
//
// In: texts as code.Values that are evaluated already. Out: code that leaves the result in another one. Package
// scalar evaluates operands and calls this. Read text.go.
package text
