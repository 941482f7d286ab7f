package catalog

import (
	"context"
	"errors"
	"testing"
)

// TestMark: a transaction that went astray and returned, more than once, is as one that did not, also in what it knows of its
// columns and keys.
func TestMark(t *testing.T) {
	empty := func(tx *Tx) error {
		r, err := tx.Lookup("", "t")
		if err != nil {
			return err
		}
		w := tx.Write(r.(*Table))
		return w.Replace(nil, w.Snapshot())
	}
	add := func(keys ...int64) func(*Tx) error {
		return func(tx *Tx) (err error) {
			for _, k := range keys {
				err = errors.Join(err, put(tx, "t", k))
			}
			return err
		}
	}
	all := func(steps ...func(*Tx) error) func(*Tx) error {
		return func(tx *Tx) (err error) {
			for _, s := range steps {
				err = errors.Join(err, s(tx))
			}
			return err
		}
	}
	for i, astray := range []func(*Tx) error{
		add(100), add(-5, 100, 7), empty, all(empty, add(104, 103, 102, 101, 100)), all(add(50), empty, add(1)),
		func(tx *Tx) error { return tx.DropTable("t", false) },
	} {
		for _, before := range []func(*Tx) error{add(), add(20, 15), all(empty, add(8, 30))} {
			run := func(wrong bool) (*Tx, *Table) {
				c := New()
				keyed(t, c, "t")
				first := c.Begin()
				if err := errors.Join(add(4, 3, 9)(first), first.Commit(context.Background())); err != nil {
					t.Fatal(err)
				}
				tx := c.Begin()
				if err := before(tx); err != nil {
					t.Fatal(err)
				}
				m := tx.Mark()
				for range 2 {
					if wrong {
						if err := astray(tx); err != nil {
							t.Fatal(err)
						}
						tx.ReturnTo(m)
					}
				}
				if err := add(6, 2)(tx); err != nil {
					t.Fatal(err)
				}
				if wrong {
					tx.ReturnTo(m)
					if err := add(6, 2)(tx); err != nil {
						t.Fatal(err)
					}
				}
				r, err := tx.Lookup("", "t")
				if err != nil {
					t.Fatal(err)
				}
				return tx, r.(*Table)
			}
			straight, want := run(false)
			tx, got := run(true)
			if a, b := keys(t, tx.Lookup, "t"), keys(t, straight.Lookup, "t"); a != b {
				t.Errorf("case %d: rows %s, want %s", i, a, b)
			}
			for c := range got.Columns {
				a, b := got.Snapshot().Stats[c], want.Snapshot().Stats[c]
				a.Dict, a.DictLen, b.Dict, b.DictLen = nil, 0, nil, 0 // dictionaries only grow
				if a != b {
					t.Errorf("case %d: column %d: %+v, want %+v", i, c, a, b)
				}
			}
			for k := int64(-10); k < 110; k++ {
				m, other := tx.Mark(), straight.Mark()
				if a, b := codeOf(put(tx, "t", k)), codeOf(put(straight, "t", k)); a != b {
					t.Errorf("case %d: key %d: %s, want %s", i, k, a, b)
				}
				tx.ReturnTo(m)
				straight.ReturnTo(other)
			}
			// Rows that were only appended go behind those of others, who came between.
			other := tx.c.Begin()
			if err := errors.Join(put(other, "t", 1000), other.Commit(context.Background())); err != nil {
				t.Fatal(err)
			}
			other = straight.c.Begin()
			if err := errors.Join(put(other, "t", 1000), other.Commit(context.Background())); err != nil {
				t.Fatal(err)
			}
			if a, b := codeOf(tx.Commit(context.Background())), codeOf(straight.Commit(context.Background())); a != b {
				t.Errorf("case %d: commit %s, want %s", i, a, b)
			}
			if a, b := keys(t, tx.c.Lookup, "t"), keys(t, straight.c.Lookup, "t"); a != b {
				t.Errorf("case %d: in the end %s, want %s", i, a, b)
			}
		}
	}
}
