package simt

import (
	"fmt"
	"strings"
)

// Kind says what went wrong in a launch.
type Kind uint8

const (
	BadLaunch        Kind = iota // grid, block or parameters do not fit the kernel
	OutOfBounds                  // access outside registered or shared memory
	Unordered                    // access to memory that another stream may have, see Shape.Touch
	ReadOnly                     // write to memory registered as read-only
	Misaligned                   // address is not a multiple of the access size
	UninitRegister               // a register was read that this lane never wrote
	UninitShared                 // shared or local memory was read that nobody wrote
	DivideByZero                 //
	MissingLane                  // a collective's mask names a lane that is not there
	DivergentBarrier             // bar.sync reached by a part of a warp
	Deadlock                     // the warps of a block wait for different barriers
	Trap                         // the kernel executed trap
	StepLimit                    //
	Cancelled                    // Err is the context's
	Internal                     // a bug of the simulator
)

var kindNames = [...]string{"bad launch", "access out of bounds", "access without order between streams",
	"write to read-only memory", "misaligned access",
	"read of an uninitialised register", "read of uninitialised shared memory", "division by zero",
	"lane missing from a collective", "divergent barrier", "barrier deadlock", "trap", "step limit exceeded",
	"cancelled", "internal error in simt (please report)"}

func (k Kind) String() string { return kindNames[k] }

// Error is a fault of a launch. Fields that do not apply are -1 (Block, Warp,
// Lane), 0 (Line) or empty.
type Error struct {
	Kind   Kind
	Kernel string
	Line   int    // of the PTX text
	Source string // that line
	Block  int
	Warp   int // in the block
	Lane   int // in the warp
	Msg    string
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s", e.Kernel)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Block >= 0 {
		fmt.Fprintf(&b, ", block %d", e.Block)
	}
	if e.Warp >= 0 {
		fmt.Fprintf(&b, " warp %d", e.Warp)
	}
	if e.Lane >= 0 {
		fmt.Fprintf(&b, " lane %d", e.Lane)
	}
	fmt.Fprintf(&b, ": %v", e.Kind)
	if e.Msg != "" {
		fmt.Fprintf(&b, ": %s", e.Msg)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Source != "" {
		fmt.Fprintf(&b, "\n  %s", e.Source)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// fault makes the error of an instruction in one lane; lane -1: the whole warp.
func (w *warp) fault(in *inst, lane int, kind Kind, format string, args ...any) *Error {
	k := w.l.k
	e := &Error{Kind: kind, Kernel: k.Name, Line: int(in.line), Block: w.c.id, Warp: w.id, Lane: lane,
		Msg: fmt.Sprintf(format, args...)}
	if n := e.Line - 1; n >= 0 && n < len(k.module.lines) {
		e.Source = strings.TrimSpace(k.module.lines[n])
	}
	return e
}
