package session

import (
	"context"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// describe lists columns as a result.
func describe(b *bind.Describe, t Timing) *Result { return texts(bind.DescribeColumns, b.Rows(), t) }

// texts is a result of texts.
func texts(names []string, rows [][]string, t Timing) *Result {
	vals := make([][]types.Value, len(rows))
	for i, row := range rows {
		for _, x := range row {
			vals[i] = append(vals[i], types.TextValue(x))
		}
	}
	return literal(names, slices.Repeat([]types.Type{types.TText}, len(names)), vals, t)
}

// relation is the table or view of that name, nil if there is none. A transaction that has seen no table yet sees those of now.
func (s *Session) relation(ctx context.Context, tx *catalog.Tx, name string) *bind.Describe {
	if tx == nil {
		tx = s.DB.Catalog.Begin()
	}
	var parts ast.Name
	for part := range strings.SplitSeq(name, ".") {
		parts = append(parts, ast.Ident{Name: part})
	}
	b, err := bind.Statement(s.env(ctx, tx), &ast.Describe{Table: parts}, nil)
	if err != nil {
		return nil
	}
	return b.(*bind.Describe)
}
