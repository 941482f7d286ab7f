//go:build !amd64

package file

const haveNarrow = false

func narrowVectors[T narrow, X int32 | int64](dst []T, src []X, lo, span, base uint64) int { return 0 }
