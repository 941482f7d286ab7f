package session

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

func (s *Session) explain(ctx context.Context, b *bind.Explain, t Timing) (*Result, error) {
	return nil, diag.Unsupported(-1, "EXPLAIN")
}
