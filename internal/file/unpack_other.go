//go:build !amd64

package file

const tablePad = 0

type vectors struct{ small, sparse *struct{} }

func newVectors[T elem](width uint, table []T, numbers int) (v vectors) { return v }

func unpackVectors[T elem](v vectors, dst []T, src []byte, width uint) (n int, wrong bool) {
	return 0, false
}
