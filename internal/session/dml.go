package session

import (
	"context"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

func (s *Session) createTable(ctx context.Context, tx *catalog.Tx, b *bind.CreateTable, t Timing) (*Result, error) {
	if _, err := tx.Lookup("", b.Name); err == nil && b.IfNotExists {
		r := done("CREATE TABLE", t)
		r.notices = append(b.Notices, fmt.Sprintf("relation %q already exists, skipping", b.Name))
		return r, nil
	}
	enc := s.DB.Catalog.Encoding
	set := s.Settings()
	enc.Narrow, enc.Dict = enc.Narrow && set.Narrow, enc.Dict && set.Dict
	table := catalog.NewTable(b.Name, b.Columns, b.Keys, enc)
	r := done("CREATE TABLE", t)
	if b.Query != nil {
		n, tm, err := s.fill(ctx, table, b.Query, t)
		if err != nil {
			return nil, err
		}
		r.Tag, r.Timing = fmt.Sprintf("SELECT %d", n), tm
	}
	if err := tx.AddTable(table, mode(b.IfNotExists, b.OrReplace)); err != nil {
		return nil, at(err, b.Pos)
	}
	r.notices = b.Notices
	return r, nil
}

func drop(tx *catalog.Tx, b *bind.Drop, t Timing) (*Result, error) {
	r, kind, drop := done("DROP TABLE", t), "table", tx.DropTable
	if b.View {
		r.Tag, kind, drop = "DROP VIEW", "view", tx.DropView
	}
	for _, name := range b.Names {
		if _, err := tx.Lookup("", name); err != nil && b.IfExists {
			r.notices = append(r.notices, fmt.Sprintf("%s %q does not exist, skipping", kind, name))
		}
		if err := drop(name, b.IfExists); err != nil {
			return nil, at(err, b.Pos)
		}
	}
	return r, nil
}

// describe lists columns as a result.
func describe(b *bind.Describe, t Timing) *Result {
	var rows [][]types.Value
	for i, n := range b.Names {
		null := "YES"
		if b.NotNull[i] {
			null = "NO"
		}
		kind := b.Types[i].String()
		if b.Foreign[i] != "" {
			kind = b.Foreign[i] + " (cannot be read)"
		}
		rows = append(rows, []types.Value{types.TextValue(n), types.TextValue(kind), types.TextValue(null)})
	}
	return literal([]string{"column_name", "column_type", "null"}, []types.Type{types.TText, types.TText, types.TText}, rows, t)
}
