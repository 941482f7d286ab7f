// Package column stores columns off the Go heap, cut into segments of up to
// SegmentRows rows, each column of a segment in the narrowest form that holds
// its values.
//
// In: values appended to a Builder. Out: an immutable Chunk whose addresses
// generated code reads directly. Read chunk.go first: it is the byte contract
// between this package and the code that emit writes; then builder.go and seal.go
// for how values become chunks, dict.go for what chunks of a column share.
package column
