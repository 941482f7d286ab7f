package gpu

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// addWords adds a number to each word of blocks of 64 bytes, by vector instructions: as fast as they could be copied.
//
//go:noescape
func addWords(dst, src unsafe.Pointer, blocks int, each uint64)

// addBlocks adds a number to the words of whole blocks, and returns how many bytes those have; 0: the processor cannot.
func addBlocks(dst, src []byte, each uint64) int {
	blocks := len(src) / 64
	if blocks == 0 || !cpu.X86.HasAVX2 {
		return 0
	}
	addWords(unsafe.Pointer(&dst[:len(src)][0]), unsafe.Pointer(&src[0]), blocks, each)
	return 64 * blocks
}
