//go:build !amd64

package gpu

func addBlocks(dst, src []byte, each uint64) int { return 0 }
