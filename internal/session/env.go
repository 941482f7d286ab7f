package session

import (
	"context"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// env is what a statement of this session may refer to.
type env struct {
	s   *Session
	tx  *catalog.Tx     // nil for statements that name no tables
	ctx context.Context // looking at files ends with it
}

// Done is closed when nobody waits for the statement any more.
func (e env) Done() <-chan struct{} { return e.ctx.Done() }

func (e env) Table(schema, name string) (*catalog.Table, bool) {
	r, err := e.tx.Lookup(schema, name)
	if err != nil {
		return nil, false
	}
	t, ok := r.(*catalog.Table)
	return t, ok
}

func (e env) View(name string) (*catalog.View, bool) {
	r, err := e.tx.Lookup("", name)
	if err != nil {
		return nil, false
	}
	v, ok := r.(*catalog.View)
	return v, ok
}

func (e env) TableNames() []string { return e.tx.Names() }

// Now is when the transaction began.
func (e env) Now() time.Time {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.open != nil {
		return e.s.open.began
	}
	return time.Now()
}
