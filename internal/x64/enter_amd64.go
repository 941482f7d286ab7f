package x64

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// enter calls generated code. ctx escapes on purpose: an object on the goroutine's
// stack could move when the trampoline's frame makes the stack grow.
func enter(code uintptr, ctx unsafe.Pointer) (status int64)

// Supported tells whether generated code runs on this processor.
func Supported() bool { return canRun && supported }

// cpu.X86 has no flag for LZCNT; every processor with BMI2 and AVX2 has it.
var supported = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// The frame that enter_amd64.s declares is the one that place.go lays out.
var _ [frameBytes]byte = [1984]byte{}
