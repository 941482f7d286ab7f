package diag

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// NoPos is the Pos of an error that belongs to no place in the query text.
const NoPos = -1

// Error is an error in what the user asked for or in the data: never in Kelpie.
type Error struct {
	Code   string // SQLSTATE, five characters
	Msg    string // one sentence, lower case, no full stop: column "x" does not exist
	Detail string // optional second sentence with the facts
	Hint   string // optional advice: did you mean "y"?
	Pos    int    // byte offset in the query text, or NoPos

	cause error
}

// Error returns the message and the code; Format adds the rest.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Code + ")"
}

// Unwrap returns the error that led to this one, if any (a file error, say).
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an error at a byte offset of the query text (or NoPos). A %w in
// the format keeps that error as the cause.
func Errorf(code string, pos int, format string, args ...any) *Error {
	e := &Error{Code: code, Pos: pos}
	if len(args) == 0 {
		e.Msg = format
		return e
	}
	err := fmt.Errorf(format, args...)
	e.Msg, e.cause = err.Error(), errors.Unwrap(err)
	return e
}

// Unsupported is the error for SQL that we understand but cannot run.
func Unsupported(pos int, format string, args ...any) *Error {
	return Errorf(FeatureNotSupported, pos, "%s is not supported", fmt.Sprintf(format, args...))
}

// WithHint sets the hint and returns e, so that it can end a return statement.
// An empty hint is no hint, which lets callers pass what DidYouMean gave them.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = sprintf(format, args)
	return e
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = sprintf(format, args)
	return e
}

// At sets the position if e has none yet: an inner stage that knew better wins.
func (e *Error) At(pos int) *Error {
	if e.Pos < 0 {
		e.Pos = pos
	}
	return e
}

// WithCause keeps err reachable for errors.Is and errors.As.
func (e *Error) WithCause(err error) *Error {
	e.cause = err
	return e
}

// Shift returns err with its position moved by delta bytes. A session that cut
// one statement out of a longer text uses it to point into the whole text.
func Shift(err error, delta int) error {
	var e *Error
	if delta == 0 || !errors.As(err, &e) || e.Pos < 0 {
		return err
	}
	moved := *e
	moved.Pos += delta
	return &moved
}

// CodeOf returns the SQLSTATE of any error: XX000 for one that has none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Code != "" {
		return e.Code
	}
	return InternalError
}

// Internal is a bug in Kelpie, caught before it could do harm.
type Internal struct {
	Stage string // which room of the walk: "bind", "emit hashjoin", "x64"
	Msg   string
	Stack []byte // where it happened, if it was a panic
	cause error
}

// Error names the stage and asks for a report.
func (e *Internal) Error() string {
	return "internal error in " + e.Stage + ": " + e.Msg + " (please report)"
}

// Unwrap returns the error value that was panicked with, if it was one.
func (e *Internal) Unwrap() error { return e.cause }

// Internalf makes an internal error of a stage.
func Internalf(stage, format string, args ...any) *Internal {
	return &Internal{Stage: stage, Msg: sprintf(format, args)}
}

// Recover, deferred at the door of a stage, turns a panic into an error:
//
//	func Bind(...) (p *Plan, err error) {
//		defer diag.Recover("bind", &err)
//
// A panic with a *Error or *Internal passes as that error, so deep recursions
// may leave by panic; any other value becomes an *Internal with its stack.
func Recover(stage string, err *error) {
	switch v := recover().(type) {
	case nil:
	case *Error:
		*err = v
	case *Internal:
		if v.Stack == nil {
			v.Stack = debug.Stack()
		}
		*err = v
	case error:
		*err = &Internal{Stage: stage, Msg: v.Error(), Stack: debug.Stack(), cause: v}
	default:
		*err = &Internal{Stage: stage, Msg: fmt.Sprint(v), Stack: debug.Stack()}
	}
}

// sprintf leaves a lone format string as it is: hints quote user text, which may
// hold percent signs.
func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
