package device

import (
	"errors"
	"fmt"
)

// Kind says what an error means for who runs a query.
type Kind uint8

const (
	// Refused: the call was wrong, or the driver has another reason. Nothing else is broken by it.
	Refused Kind = iota
	// OutOfMemory: freeing helps.
	OutOfMemory
	// Missing: this device, driver or machine does not have what is asked for.
	Missing
	// Lost: the device answers nothing any more; all of its memory is gone.
	Lost
	// Faulted: a kernel did what it must not, which is a bug of ours. The device is lost by it.
	Faulted
)

func (k Kind) String() string {
	return [...]string{"refused", "out of memory", "missing", "device lost", "kernel fault"}[k]
}

// Error is what a device could not do.
type Error struct {
	Kind   Kind
	Device string
	Call   string // what was tried, as "alloc 4096 bytes"
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s: %v", e.Device, e.Call, e.Kind, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of an error of a device, Refused for any other error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Refused
}
