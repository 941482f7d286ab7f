package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// insert is INSERT without changes of other rows.
func (s *Session) insert(ctx context.Context, tx *catalog.Tx, b *bind.Insert, t Timing) (*Result, error) {
	res, err := s.loadQuery(ctx, b.Query, t)
	if err != nil {
		return nil, at(err, b.Pos)
	}
	defer res.Close()
	table := tx.Write(b.Table)
	n, segs, err := s.append(ctx, table, res, b.Ignore)
	if err == nil {
		err = s.verify(ctx, tx, table, segs)
	}
	if err != nil {
		return nil, at(err, b.Pos)
	}
	return s.returning(ctx, b.Returning, segs, fmt.Sprintf("INSERT 0 %d", n), res.Timing)
}

// changeRows is UPDATE, DELETE, MERGE and INSERT … ON CONFLICT DO UPDATE.
func (s *Session) changeRows(ctx context.Context, tx *catalog.Tx, b *bind.Change, t Timing) (*Result, error) {
	base := b.Base
	if b.Query == nil { // all rows go
		if base.Rows > 0 {
			if tx.Write(b.Table).Version() != b.Version {
				return nil, changedTwice(b)
			}
			if err := replace(tx, b.Table, nil, nil); err != nil {
				return nil, at(err, b.Pos)
			}
			if err := s.followReferences(ctx, tx, &removal{table: b.Table, base: base}); err != nil {
				return nil, err
			}
		}
		return done(fmt.Sprintf("%s %d", b.Verb, base.Rows), t), nil
	}
	res, err := s.loadQuery(ctx, b.Query, t)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	start := time.Now()
	c := &changes{Change: b, base: base, acct: res.exec.Account()}
	if err := c.read(ctx, res.exec); err != nil {
		return nil, err
	}
	if b.Rows != nil {
		if c.fresh, err = s.segments(ctx, b.Rows, res); err != nil {
			return nil, err
		}
	}
	if len(c.edits)+len(c.added) > 0 {
		if err := s.publish(ctx, tx, c); err != nil {
			return nil, at(err, b.Pos)
		}
		if err := s.settle(ctx, tx, c); err != nil {
			return nil, err
		}
	}
	res.Timing.Exec += time.Since(start)
	return s.returning(ctx, b.Returning, c.fresh, fmt.Sprintf("%s %d", b.Verb, c.n), res.Timing)
}

// changedTwice is the error if two parts of a WITH change rows of one table: which of them would see what is anybody's guess.
func changedTwice(b *bind.Change) error {
	return diag.Unsupported(b.Pos, "changing rows of table %q twice in one statement", b.Table.Name).WithHint("use a statement for each")
}

// withChanges runs the statements of WITH that change rows, and then the one that it is for, which sees tables as they were before
// all of them.
func (s *Session) withChanges(ctx context.Context, tx *catalog.Tx, b *bind.WithChanges, t Timing) (*Result, error) {
	for _, p := range b.Changes {
		res, err := s.run(ctx, tx, p.Bound, t)
		if err != nil {
			return nil, err
		}
		if p.Rows != nil {
			err = s.take(ctx, p, res)
		}
		t = res.Timing
		res.Close()
		if err != nil {
			return nil, err
		}
	}
	return s.run(ctx, tx, b.Main, t)
}

// take keeps the rows that a statement of WITH returned, for those that refer to it.
func (s *Session) take(ctx context.Context, p *bind.Pending, res *Result) error {
	segs, err := s.segments(ctx, p.Rows, res)
	if err != nil {
		return err
	}
	if err := p.Rows.AppendTrusted(segs...); err != nil {
		return err
	}
	for _, scan := range p.Scans {
		scan.Snap = p.Rows.Snapshot()
	}
	return nil
}

// changes is what a statement does to the rows of a table.
type changes struct {
	*bind.Change
	base  *catalog.Snapshot
	acct  *budget.Account
	n     int64              // rows that are changed
	fresh []*catalog.Segment // the rows of the query, in the form of Change.Rows
	edits []catalog.Edit     // by their rows
	added []int64            // of fresh
}

// read takes the numbers of rows and what becomes of them from the query's result.
func (c *changes) read(ctx context.Context, x *result.Result) error {
	at := 0
	if c.Rows != nil {
		at = len(c.Rows.Columns)
	}
	c.n = x.Len()
	rows, kinds := make([]int64, c.n), []int64(nil)
	if err := readNumbers(ctx, x, at, rows); err != nil {
		return err
	}
	if len(c.Kinds) > 1 {
		kinds = make([]int64, c.n)
		if err := readNumbers(ctx, x, at+1, kinds); err != nil {
			return err
		}
	}
	sorted := true
	if len(c.Kinds) == 1 && c.Kinds[0] != bind.InsertRow {
		c.edits = make([]catalog.Edit, 0, c.n)
	}
	for i, row := range rows {
		if i%mostNumbers == 0 && ctx.Err() != nil {
			return diag.Canceled(ctx)
		}
		kind := c.Kinds[0]
		if kinds != nil {
			kind = c.Kinds[kinds[i]-1]
		}
		switch kind {
		case bind.RefuseRow:
			return c.Refusals[kinds[i]-1]
		case bind.InsertRow:
			c.added = append(c.added, int64(i))
			continue
		case bind.UpdateRow:
			c.edits = append(c.edits, catalog.Edit{Row: row, By: int64(i)})
		case bind.DeleteRow:
			c.edits = append(c.edits, catalog.Edit{Row: row, By: -1})
		}
		if k := len(c.edits); k > 1 && c.edits[k-2].Row >= row {
			sorted = false
		}
	}
	if sorted {
		return nil
	}
	slices.SortStableFunc(c.edits, func(a, b catalog.Edit) int { return int(a.Row - b.Row) })
	for i := range c.edits[1:] {
		if c.edits[i].Row == c.edits[i+1].Row {
			return c.again()
		}
	}
	return nil
}

// again is the error if a row is changed twice.
func (c *changes) again() error {
	if c.Again == "" {
		return diag.Internalf("session", "row changed twice by %s", c.Verb)
	}
	return diag.Errorf(diag.CardinalityViolation, c.Pos, "%s", c.Again).
		WithHint("Ensure that not more than one source row matches any one target row.")
}

// readNumbers reads a column of integers.
func readNumbers(ctx context.Context, x *result.Result, col int, dst []int64) error {
	rd := x.NewReader()
	for at := int64(0); at < x.Len(); {
		if ctx.Err() != nil {
			return diag.Canceled(ctx)
		}
		n := rd.Window(at, int(min(x.Len()-at, mostNumbers)))
		result.ReadInts(rd, col, dst[at:at+int64(n)])
		at += int64(n)
	}
	return nil
}

// mostNumbers is after how many rows a reader of numbers looks whether it is still wanted.
const mostNumbers = 1 << 16

// publish gives the table its new rows.
func (s *Session) publish(ctx context.Context, tx *catalog.Tx, c *changes) error {
	if len(c.edits) > 0 {
		if err := tx.Unchanged(c.Table); err != nil {
			return err
		}
	}
	own := tx.Write(c.Table)
	if len(c.edits) > 0 && own.Version() != c.Version {
		return changedTwice(c.Change)
	}
	fresh := make([]*catalog.Segment, len(c.fresh)) // without what is there for RETURNING only
	for i, seg := range c.fresh {
		fresh[i] = seg.Narrow(len(own.Columns))
	}
	segs := fresh
	if whole := len(c.added) == 0 && int64(len(c.edits)) == c.base.Rows && c.inOrder() && c.carriesNothing(); !whole {
		w := &catalog.Rewriter{Table: own, Base: own.Snapshot(), Fresh: fresh, Edits: c.edits, Threads: s.Settings().Threads,
			Account: c.acct, Stopped: diag.Stopped(ctx)}
		var err error
		if segs, err = w.Segments(); err != nil {
			return err
		}
	}
	added := fresh
	if len(c.edits) > 0 || !c.carriesNothing() {
		var err error
		if added, err = own.Picked(fresh, c.added, c.acct); err != nil {
			return err
		}
	}
	if len(c.added) == 0 {
		return own.ReplaceAssigned(c.acct, own.Snapshot(), c.Assigned, segs...)
	}
	if len(c.Distinct) > 0 { // no new row may have been meant to change another new one
		if ok, err := own.Unconflicting(added, c.Distinct, c.acct); err != nil {
			return err
		} else if len(ok) < len(c.added) {
			e := c.again().(*diag.Error)
			e.Hint = "Ensure that no rows proposed for insertion within the same command have duplicate constrained values."
			return e
		}
	}
	if len(c.edits) == 0 {
		return own.AppendFor(c.acct, added...)
	}
	return own.ReplaceAssigned(c.acct, own.Snapshot(), nil, append(segs, added...)...)
}

// settle holds the changed rows to the constraints of their table and of those that refer to it.
func (s *Session) settle(ctx context.Context, tx *catalog.Tx, c *changes) error {
	if c.Verb != "DELETE" {
		if err := s.verify(ctx, tx, tx.Write(c.Table), c.fresh); err != nil {
			return err
		}
	}
	if len(c.edits) == 0 {
		return nil
	}
	m := &removal{table: c.Table, base: c.base, edits: c.edits, fresh: c.fresh, assigned: c.Assigned}
	if c.Verb == "DELETE" {
		m.assigned = nil
	}
	return s.followReferences(ctx, tx, m)
}

// inOrder reports that the fresh rows follow each other as the rows do whose place they take.
func (c *changes) inOrder() bool {
	for i, e := range c.edits {
		if e.By != int64(i) {
			return false
		}
	}
	return true
}

// carriesNothing reports that the fresh segments have the table's columns only, so that they can become its own.
func (c *changes) carriesNothing() bool {
	return c.Rows != nil && len(c.Rows.Columns) == len(c.Table.Columns)
}

// replace puts segments in the place of all rows of a table, for a statement whose account is acct.
func replace(tx *catalog.Tx, table *catalog.Table, acct *budget.Account, assigned []bool, segs ...*catalog.Segment) error {
	if err := tx.Unchanged(table); err != nil {
		return err
	}
	own := tx.Write(table)
	return own.ReplaceAssigned(acct, own.Snapshot(), assigned, segs...)
}

// returning is the result of a statement that changed rows: those that RETURNING makes of them, or just its tag.
func (s *Session) returning(ctx context.Context, r *bind.Returning, rows []*catalog.Segment, tag string, t Timing) (*Result, error) {
	if r == nil {
		return done(tag, t), nil
	}
	if err := r.Rows.AppendTrusted(rows...); err != nil {
		return nil, err
	}
	r.Scan.Snap = r.Rows.Snapshot()
	res, err := s.query(ctx, r.Query, t)
	if err != nil {
		return nil, err
	}
	res.Tag = tag
	res.Timing.Compile, res.Timing.Exec = res.Timing.Compile+t.Compile, res.Timing.Exec+t.Exec
	return res, nil
}
