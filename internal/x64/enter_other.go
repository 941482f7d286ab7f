//go:build !amd64

package x64

import "unsafe"

func enter(code uintptr, ctx unsafe.Pointer) int64 { panic("x64: not an x86-64 processor") }

// Supported tells whether generated code runs on this processor.
func Supported() bool { return false }
