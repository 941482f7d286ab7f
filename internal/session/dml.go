package session

import (
	"context"
	"fmt"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
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

// fill appends a query's rows to a table.
func (s *Session) fill(ctx context.Context, table *catalog.Table, q *plan.Query, t Timing) (int64, Timing, error) {
	res, err := s.query(ctx, q, t)
	if err != nil {
		return 0, t, err
	}
	defer res.Close()
	start := time.Now()
	segs, err := s.segments(ctx, table, res, len(table.Columns))
	if err != nil {
		return 0, t, err
	}
	err = table.Append(segs...)
	tm := res.Timing
	tm.Exec += time.Since(start)
	return res.Rows, tm, err
}

// segments seals a result's rows in the table's form, column by column.
func (s *Session) segments(ctx context.Context, table *catalog.Table, res *Result, cols int) ([]*catalog.Segment, error) {
	sb := table.NewSegmentBuilder()
	rd := res.exec.NewReader()
	var segs []*catalog.Segment
	for left := res.Rows; left > 0; {
		if ctx.Err() != nil {
			return nil, diag.Errorf(diag.QueryCanceled, -1, "canceling statement due to user request")
		}
		n := int(min(left, int64(sb.Room())))
		for at := 0; at < n; {
			k := rd.Window(res.Rows-left+int64(at), n-at)
			for i := range cols {
				rec := &columnReceiver{b: sb.Cols[i], t: table.Columns[i].Type, name: table.Columns[i].Name}
				rd.Column(i, rec)
				if rec.err != nil {
					return nil, rec.err
				}
			}
			at += k
		}
		seg, err := table.Seal(sb)
		if err != nil {
			return nil, err
		}
		segs = append(segs, seg)
		left -= int64(n)
	}
	return segs, nil
}

// replace puts segments in the place of all rows of a table.
func replace(tx *catalog.Tx, table *catalog.Table, segs ...*catalog.Segment) error {
	if err := tx.Unchanged(table); err != nil {
		return err
	}
	own := tx.Write(table)
	return own.Replace(own.Snapshot(), segs...)
}

// remove is DELETE: the table is replaced by the rows that stay, unless these are all.
func (s *Session) remove(ctx context.Context, tx *catalog.Tx, b *bind.Delete, t Timing) (*Result, error) {
	before := b.Table.Snapshot().Rows
	var segs []*catalog.Segment
	var kept int64
	if b.Keep != nil {
		res, err := s.query(ctx, b.Keep, t)
		if err != nil {
			return nil, err
		}
		defer res.Close()
		t, kept = res.Timing, res.Rows
		if kept == before {
			return done("DELETE 0", t), nil
		}
		if segs, err = s.segments(ctx, b.Table, res, len(b.Table.Columns)); err != nil {
			return nil, err
		}
	}
	if err := replace(tx, b.Table, segs...); err != nil {
		return nil, at(err, b.Pos)
	}
	return done(fmt.Sprintf("DELETE %d", before-kept), t), nil
}

// update replaces the table by the query's rows; its last column tells which were changed.
func (s *Session) update(ctx context.Context, tx *catalog.Tx, b *bind.Update, t Timing) (*Result, error) {
	res, err := s.query(ctx, b.Query, t)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	count := &trueCounter{}
	rd := res.exec.NewReader()
	for at := int64(0); at < res.Rows; {
		at += int64(rd.Window(at, int(res.Rows-at)))
		rd.Column(len(b.Table.Columns), count)
	}
	if count.n == 0 {
		return done("UPDATE 0", res.Timing), nil
	}
	segs, err := s.segments(ctx, b.Table, res, len(b.Table.Columns))
	if err != nil {
		return nil, err
	}
	if err := replace(tx, b.Table, segs...); err != nil {
		return nil, at(err, b.Pos)
	}
	return done(fmt.Sprintf("UPDATE %d", count.n), res.Timing), nil
}

// columnReceiver appends a result's column to a column builder, held to VARCHAR(n).
type columnReceiver struct {
	b interface {
		AppendNull()
		AppendInt(int64)
		AppendI128(types.Int128)
		AppendFloat(float64)
		AppendBytes([]byte)
		AppendInterval(int32, int32, int64)
	}
	t    types.Type
	name string
	err  error
}

func (c *columnReceiver) Null()               { c.b.AppendNull() }
func (c *columnReceiver) Int(x int64)         { c.b.AppendInt(x) }
func (c *columnReceiver) Wide(x types.Int128) { c.b.AppendI128(x) }
func (c *columnReceiver) Float(x float64)     { c.b.AppendFloat(x) }
func (c *columnReceiver) Interval(months, days int32, micros int64) {
	c.b.AppendInterval(months, days, micros)
}

func (c *columnReceiver) Text(x []byte) {
	if c.t.Len > 0 && len(x) > int(c.t.Len) {
		v := types.TextValue(string(x))
		w, err := types.Assign(v, c.t)
		if err != nil {
			if c.err == nil {
				c.err = at(err, -1)
			}
		}
		x = []byte(w.S)
	}
	c.b.AppendBytes(x)
}

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
