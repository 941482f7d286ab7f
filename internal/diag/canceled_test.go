package diag

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCanceled: one error for all who look at a context, with what led to it.
func TestCanceled(t *testing.T) {
	if err := Canceled(context.Background()); err != nil {
		t.Errorf("nobody canceled: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := Stopped(ctx)
	if err := stopped(); err != nil {
		t.Errorf("too early: %v", err)
	}
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	for _, c := range []struct {
		err   error
		text  string
		cause error
	}{
		{stopped(), "canceling statement due to user request", context.Canceled},
		{Canceled(late), "canceling statement due to timeout", context.DeadlineExceeded},
	} {
		var e *Error
		if !errors.As(c.err, &e) || e.Code != QueryCanceled || e.Msg != c.text || !errors.Is(c.err, c.cause) {
			t.Errorf("%#v, want %s", c.err, c.text)
		}
	}
}
