package session

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

func (s *Session) copy(ctx context.Context, b *bind.Copy, t Timing) (*Result, error) {
	return nil, diag.Unsupported(b.Pos, "COPY")
}
