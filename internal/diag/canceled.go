package diag

import (
	"context"
	"errors"
)

// Canceled is the error of a statement whose context has ended; nil: it has not.
func Canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return CanceledBy(err)
	}
	return nil
}

// CanceledBy is the error of a statement whose context has ended with err.
func CanceledBy(err error) *Error {
	why := "user request"
	if errors.Is(err, context.DeadlineExceeded) {
		why = "timeout"
	}
	return Errorf(QueryCanceled, NoPos, "canceling statement due to %s", why).WithCause(err)
}

// Stopped asks for Canceled whenever it is called.
func Stopped(ctx context.Context) func() error {
	return func() error { return Canceled(ctx) }
}
