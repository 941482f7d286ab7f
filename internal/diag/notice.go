package diag

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Notices are remarks on a statement that succeeds: what a user must know of its result though it
// is no error, such as that a column has lost its time zone. A statement's context carries them,
// so that every room that has the context can say something; the session hands them out with the
// result. Many goroutines may use them.
type Notices struct {
	mu   sync.Mutex
	list []string
}

type noticesKey struct{}

// WithNotices is a context that collects notices, and where they are.
func WithNotices(ctx context.Context) (context.Context, *Notices) {
	n := &Notices{}
	return context.WithValue(ctx, noticesKey{}, n), n
}

// Notice says something about the statement that ctx belongs to. What was said already is not
// repeated; where nobody listens, it is lost.
func Notice(ctx context.Context, format string, args ...any) {
	n, ok := ctx.Value(noticesKey{}).(*Notices)
	if !ok {
		return
	}
	text := fmt.Sprintf(format, args...)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.list, text) {
		n.list = append(n.list, text)
	}
}

// List is what has been said so far.
func (n *Notices) List() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}
