//go:build !amd64

package file

const haveSnappyFast = false

func snappyFast(dst, src []byte, d, s int) (d2, s2 int) { return d, s }
