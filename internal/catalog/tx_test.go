package catalog

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

func keyed(t *testing.T, c *Catalog, name string) *Table {
	t.Helper()
	tab, err := c.CreateTable(name, []ColumnDef{{Name: "k", Type: types.TInt64, NotNull: true}, {Name: "s", Type: types.TText}}, [][]int{{0}}, Fail)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// put appends a row to a table in a transaction.
func put(tx *Tx, name string, k int64) error {
	r, err := tx.Lookup("", name)
	if err != nil {
		return err
	}
	a := tx.Write(r.(*Table)).NewAppender()
	if err := a.AppendRow(types.IntValue(types.TInt64, k), types.TextValue(fmt.Sprint("text ", k))); err != nil {
		return err
	}
	return a.Close()
}

// keys are the keys of a table in the order of its rows.
func keys(t *testing.T, lookup func(schema, name string) (Relation, error), name string) string {
	t.Helper()
	r, err := lookup("", name)
	if err != nil {
		return err.Error()
	}
	s := r.(*Table).Snapshot()
	var out []int64
	for i := range s.Rows {
		v := s.Value(i, 0)
		if got := s.Value(i, 1).S; got != fmt.Sprint("text ", v.I) {
			t.Errorf("row %d has key %d and %q", i, v.I, got)
		}
		out = append(out, v.I)
	}
	return fmt.Sprint(out)
}

func codeOf(err error) string {
	var e *types.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestTxIsolation(t *testing.T) {
	c := New()
	keyed(t, c, "t")
	ctx := context.Background()
	a, b, reader := c.Begin(), c.Begin(), c.Begin()
	for i, tx := range []*Tx{a, a, b, b} {
		if err := put(tx, "T", int64(10-i)); err != nil { // falling keys need the index
			t.Fatal(err)
		}
	}
	if got := keys(t, a.Lookup, "t"); got != "[10 9]" {
		t.Errorf("a sees %s", got)
	}
	if got := keys(t, c.Lookup, "t"); got != "[]" {
		t.Errorf("others see %s before the commit", got)
	}
	if err := a.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, b.Lookup, "t"); got != "[8 7]" {
		t.Errorf("b sees %s after a's commit", got)
	}
	if err := b.Commit(ctx); err != nil { // rows that were only appended go behind
		t.Fatal(err)
	}
	if got := keys(t, c.Lookup, "t"); got != "[10 9 8 7]" {
		t.Errorf("in the end %s", got)
	}
	if got := keys(t, reader.Lookup, "t"); got != "[]" {
		t.Errorf("an old reader sees %s", got)
	}
	// A key that another transaction has committed meanwhile.
	a, b = c.Begin(), c.Begin()
	if err := errors.Join(put(a, "t", 3), put(b, "t", 4), put(b, "t", 3)); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(ctx); codeOf(err) != "23505" {
		t.Errorf("the same key twice: %v", err)
	}
	// What was rolled back may come again, and the index has not lost the others.
	a = c.Begin()
	if err := put(a, "t", 5); err != nil {
		t.Fatal(err)
	}
	a.Rollback()
	for k, want := range map[int64]string{5: "<nil>", 9: "23505", 3: "23505"} {
		tx := c.Begin()
		if err := put(tx, "t", k); codeOf(err) != want {
			t.Errorf("key %d: %v", k, err)
		}
		tx.Rollback()
	}
	if got := keys(t, c.Lookup, "t"); got != "[10 9 8 7 3]" {
		t.Errorf("in the end %s", got)
	}
}

// TestTxConflicts commits pairs of transactions that began at the same time.
func TestTxConflicts(t *testing.T) {
	ctx := context.Background()
	table := func(tx *Tx) *Table {
		r, err := tx.Lookup("", "t")
		if err != nil {
			return nil
		}
		return r.(*Table)
	}
	insert := func(k int64) func(*Tx) error { return func(tx *Tx) error { return put(tx, "t", k) } }
	nothing := func(tx *Tx) error { tx.Write(table(tx)); return nil }
	empty := func(tx *Tx) error {
		w := tx.Write(table(tx))
		return w.Replace(nil, w.Snapshot())
	}
	drop := func(tx *Tx) error { return tx.DropTable("t", false) }
	create := func(name string) func(*Tx) error {
		return func(tx *Tx) error { return tx.AddTable(NewTable(name, nil, nil, tx.c.Encoding), Fail) }
	}
	view := func(tx *Tx) error { return tx.CreateView(&View{Name: "v", SQL: "select 1"}, Replace) }
	again := func(tx *Tx) error { return errors.Join(drop(tx), create("t")(tx)) }
	inAndOut := func(tx *Tx) error { return errors.Join(create("u")(tx), tx.DropTable("u", false)) }
	for i, c := range []struct {
		first, second func(*Tx) error
		code          string
	}{
		{insert(1), insert(2), "<nil>"},
		{insert(1), empty, "40001"},
		{empty, insert(1), "<nil>"},
		{empty, empty, "40001"},
		{nothing, empty, "<nil>"},
		{empty, nothing, "<nil>"},
		{drop, insert(1), "40001"},
		{drop, empty, "40001"},
		{drop, drop, "<nil>"},
		{insert(1), drop, "40001"},
		{again, insert(1), "40001"},
		{again, again, "40001"},
		{create("u"), create("u"), "42P07"},
		{create("u"), create("w"), "<nil>"},
		{create("u"), inAndOut, "<nil>"},
		{create("u"), insert(1), "<nil>"},
		{view, view, "42P07"},
	} {
		cat := New()
		keyed(t, cat, "t")
		a, b := cat.Begin(), cat.Begin()
		if err := errors.Join(c.first(a), c.second(b)); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if err := a.Commit(ctx); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		before := cat.Names()
		err := b.Commit(ctx)
		if codeOf(err) != c.code {
			t.Errorf("case %d: %v, want %s", i, err, c.code)
		}
		var late *Conflict
		if c.code != "<nil>" && !errors.As(err, &late) {
			t.Errorf("case %d: %v is no conflict", i, err)
		}
		if after := cat.Names(); err != nil && fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("case %d: %v has become %v", i, before, after)
		}
		if tx, err := cat.BeginAlone(ctx); err != nil { // the right to publish has come back
			t.Error(err)
		} else {
			tx.Rollback()
		}
	}
}

// TestTxSerializable lets two transactions each read what the other changes.
func TestTxSerializable(t *testing.T) {
	for _, strict := range []bool{false, true} {
		c := New()
		keyed(t, c, "x")
		keyed(t, c, "y")
		a, b := c.Begin(), c.Begin()
		if strict {
			a.Serializable()
			b.Serializable()
		}
		keys(t, a.Lookup, "x")
		keys(t, b.Lookup, "y")
		if err := errors.Join(put(a, "y", 1), put(b, "x", 1)); err != nil {
			t.Fatal(err)
		}
		if err := a.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{false: "<nil>", true: "40001"}[strict]
		if err := b.Commit(context.Background()); codeOf(err) != want {
			t.Errorf("serializable %v: %v", strict, err)
		}
	}
}

// TestTxAlone: nobody commits while one has asked to be alone, and who waits can be canceled.
func TestTxAlone(t *testing.T) {
	c := New()
	keyed(t, c, "t")
	alone, err := c.BeginAlone(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	other := c.Begin()
	if err := errors.Join(put(alone, "t", 1), put(other, "t", 2)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := other.Commit(ctx); err != context.Canceled {
		t.Errorf("committed beside: %v", err)
	}
	if _, err := c.BeginAlone(ctx); err != context.Canceled {
		t.Errorf("two are alone: %v", err)
	}
	if err := alone.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, c.Lookup, "t"); got != "[1]" {
		t.Error(got)
	}
}

// TestForkIndex: a statement that adds a row to a table with a key must neither build the index anew,
// nor keep the table as it was before it.
func TestForkIndex(t *testing.T) {
	c := New()
	keyed(t, c, "t")
	for k := range int64(1000) {
		tx := c.Begin()
		if err := put(tx, "t", -k); err != nil {
			t.Fatal(err)
		}
		tab, _ := c.Table("t")
		if had := tab.indexes[0].rows; had != 0 && k > 1 {
			t.Fatalf("row %d: the index was not handed on", k)
		}
		if k%2 == 0 {
			tx.Rollback()
			if tab.indexes[0].rows != k && k > 1 {
				t.Fatalf("row %d: the index has not come back", k)
			}
			tx = c.Begin()
			if err := put(tx, "t", -k); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
		if tab, _ = c.Table("t"); tab.origin != nil {
			t.Fatal("a published table keeps the one before alive")
		}
		if x := tab.indexes[0]; x.rows != k+1 && k > 0 {
			t.Fatalf("row %d: the index knows %d rows", k, x.rows)
		}
	}
}
