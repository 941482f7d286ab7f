package session

import (
	"context"
	"errors"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// errTimeout is the cause of a context that statement_timeout ended.
var errTimeout = errors.New("statement timeout")

// withTimeout is a context that ends after d; if d is zero, the one given.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, errTimeout)
}

// timeoutError says of a canceled statement that it was the timeout, if it was.
func timeoutError(ctx context.Context, err error) error {
	if diag.CodeOf(err) == diag.QueryCanceled && context.Cause(ctx) == errTimeout {
		return diag.Errorf(diag.QueryCanceled, diag.NoPos, "canceling statement due to statement timeout")
	}
	return err
}
