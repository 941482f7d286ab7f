package session

import (
	"context"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
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

func (s *Session) insert(ctx context.Context, tx *catalog.Tx, b *bind.Insert, t Timing) (*Result, error) {
	n, t, err := s.fill(ctx, tx.Write(b.Table), b.Query, t)
	if err != nil {
		return nil, at(err, b.Pos)
	}
	return done(fmt.Sprintf("INSERT 0 %d", n), t), nil
}

// replace puts segments in the place of all rows of a table, for a statement whose account is acct.
func replace(tx *catalog.Tx, table *catalog.Table, acct *budget.Account, segs ...*catalog.Segment) error {
	if err := tx.Unchanged(table); err != nil {
		return err
	}
	own := tx.Write(table)
	return own.Replace(acct, own.Snapshot(), segs...)
}

// remove is DELETE: the table is replaced by the rows that stay, unless these are all.
func (s *Session) remove(ctx context.Context, tx *catalog.Tx, b *bind.Delete, t Timing) (*Result, error) {
	before := b.Table.Snapshot().Rows
	var segs []*catalog.Segment
	var kept int64
	var acct *budget.Account
	if b.Keep != nil {
		res, err := s.loadQuery(ctx, b.Keep, t)
		if err != nil {
			return nil, err
		}
		defer res.Close()
		t, kept, acct = res.Timing, res.Rows, res.exec.Account()
		if kept == before {
			return done("DELETE 0", t), nil
		}
		if segs, err = s.segments(ctx, b.Table, res); err != nil {
			return nil, err
		}
	}
	if err := replace(tx, b.Table, acct, segs...); err != nil {
		return nil, at(err, b.Pos)
	}
	return done(fmt.Sprintf("DELETE %d", before-kept), t), nil
}

// update replaces the table by the query's rows; its last column tells which were changed.
func (s *Session) update(ctx context.Context, tx *catalog.Tx, b *bind.Update, t Timing) (*Result, error) {
	res, err := s.loadQuery(ctx, b.Query, t)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	count := &trueCounter{}
	rd := res.exec.NewReader()
	for at := int64(0); at < res.Rows; {
		if ctx.Err() != nil {
			return nil, diag.Canceled(ctx)
		}
		at += int64(rd.Window(at, int(min(res.Rows-at, countedRows))))
		rd.Column(len(b.Table.Columns), count)
	}
	if count.n == 0 {
		return done("UPDATE 0", res.Timing), nil
	}
	segs, err := s.segments(ctx, b.Table, res)
	if err != nil {
		return nil, err
	}
	if err := replace(tx, b.Table, res.exec.Account(), segs...); err != nil {
		return nil, at(err, b.Pos)
	}
	return done(fmt.Sprintf("UPDATE %d", count.n), res.Timing), nil
}

// countedRows is after how many rows an update that counts them looks whether it is still wanted.
const countedRows = 1 << 16

// trueCounter counts TRUE.
type trueCounter struct {
	columnReceiver
	n int64
}

func (c *trueCounter) Int(x int64) { c.n += x }
func (c *trueCounter) Null()       {}

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
