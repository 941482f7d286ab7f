package cuda

import (
	"errors"
	"fmt"
)

// Code is a CUresult.
type Code int32

// The codes that Kelpie tells apart.
const (
	success      Code = 0
	outOfMemory  Code = 2
	noDevice     Code = 100
	insufficient Code = 803 // the driver is older than the kernel module or the device needs
)

// Error is a refusal by the driver.
type Error struct {
	Call string // cuMemAllocAsync
	Code Code
	Name string // CUDA_ERROR_OUT_OF_MEMORY
	Text string // out of memory
	Log  string // what the compiler of PTX wrote
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%s)", e.Call, e.Text, e.Name)
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

// OutOfMemory reports that the device (or pinned memory) is exhausted: freeing helps.
func (e *Error) OutOfMemory() bool { return e.Code == outOfMemory }

// Lost reports an error after which the context answers nothing else: a fault of a kernel, a trap, a
// device that fell off the bus. All of the context's memory is gone with it, and for a fault the
// driver makes no new context in this process either.
func (e *Error) Lost() bool {
	switch {
	case e.Code == 201 || e.Code == 214 || e.Code == 219 || e.Code == 220 || e.Code == 709:
		return true // invalid context, ECC, NVLink, contained, destroyed
	case e.Faulted() || e.Code == 702:
		return true // 702: a launch took too long
	case e.Code == 46 || e.Code == 999:
		return true // unavailable, unknown
	}
	return false
}

// Faulted reports that a kernel did what it must not: an illegal address, an assertion, a broken
// stack, an illegal instruction, a misaligned address, a wrong address space or jump, any failure.
func (e *Error) Faulted() bool {
	return e.Code == 700 || e.Code == 710 || e.Code >= 714 && e.Code <= 719
}

// Missing reports that device or driver do not know what was asked for: no code for this device, PTX
// that is too new, an operation that is not supported.
func (e *Error) Missing() bool { return e.Code == 209 || e.Code == 222 || e.Code == 801 }

// IsOutOfMemory looks for such an error in a chain.
func IsOutOfMemory(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.OutOfMemory()
}

// IsLost looks for such an error in a chain.
func IsLost(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Lost()
}

// Unavailable says why there is no GPU to use.
type Unavailable struct{ Why string }

func (e *Unavailable) Error() string { return e.Why }
