package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// numbersTable has rows (i, text of i) in segments of the given sizes.
func numbersTable(t *testing.T, sizes ...int) *Table {
	t.Helper()
	table := NewTable("t", []ColumnDef{{Name: "i", Type: types.TInt64}, {Name: "s", Type: types.TText}}, nil, column.DefaultOptions())
	next := int64(0)
	var segs []*Segment
	for _, n := range sizes {
		sb := table.NewSegmentBuilder()
		for range n {
			sb.Cols[0].AppendInt(next)
			sb.Cols[1].AppendString(fmt.Sprint("text ", next%13))
			next++
		}
		seg, err := table.Seal(sb)
		if err != nil {
			t.Fatal(err)
		}
		segs = append(segs, seg)
	}
	if err := table.Replace(nil, table.Snapshot(), segs...); err != nil {
		t.Fatal(err)
	}
	return table
}

// cellsOf reads the first column of segments.
func cellsOf(segs []*Segment) (out []int64) {
	for _, s := range segs {
		for i := range s.Rows {
			out = append(out, s.Chunks[0].Int(i))
		}
	}
	return out
}

// TestRewriter compares rows after edits made at random with a list that was edited likewise.
func TestRewriter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var sizes []int
		total := 0
		for range 1 + r.IntN(6) {
			n := []int{1, 3, 70, 1000, column.SegmentRows/2 + r.IntN(3), column.SegmentRows}[min(r.IntN(6), 3+round%3)]
			sizes, total = append(sizes, n), total+n
		}
		base := numbersTable(t, sizes...)
		fresh := numbersTable(t, 1+r.IntN(500), 1+r.IntN(500))
		have := fresh.Snapshot().Rows
		want := cellsOf(base.Snapshot().Segments)
		var edits []Edit
		density := []float64{0, 0.001, 0.5, 1}[r.IntN(4)]
		by := r.Int64N(have)
		for row := range int64(total) {
			if r.Float64() >= density {
				continue
			}
			e := Edit{Row: row, By: -1}
			if r.IntN(3) > 0 {
				if by++; by >= have || r.IntN(20) == 0 {
					by = r.Int64N(have)
				}
				e.By = by
			}
			edits = append(edits, e)
		}
		for i := len(edits) - 1; i >= 0; i-- {
			if e := edits[i]; e.By < 0 {
				want[e.Row] = -1
			} else {
				want[e.Row] = e.By
			}
		}
		want = slices.DeleteFunc(want, func(x int64) bool { return x == -1 })
		w := &Rewriter{Table: base, Base: base.Snapshot(), Fresh: fresh.Snapshot().Segments, Edits: edits, Threads: 1 + r.IntN(3)}
		segs, err := w.Segments()
		if err != nil {
			t.Fatal(err)
		}
		if got := cellsOf(segs); !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, %d edits: %d rows, want %d", round, sizes, len(edits), len(got), len(want))
		}
		for _, s := range segs {
			if s.Rows == 0 || s.Rows > column.SegmentRows {
				t.Fatalf("a segment of %d rows", s.Rows)
			}
		}
		if len(edits) == 0 && !slices.Equal(segs, base.Snapshot().Segments) {
			t.Fatal("segments were written without need")
		}
	}
}

func TestPicked(t *testing.T) {
	table := numbersTable(t, 10, 5, 100)
	rows := []int64{114, 0, 1, 2, 9, 10, 11, 14, 15, 16, 3, 3}
	segs, err := table.Picked(table.Snapshot().Segments, rows, nil)
	if err != nil || !slices.Equal(cellsOf(segs), rows) {
		t.Errorf("%v, %v", cellsOf(segs), err)
	}
}

func TestNumbered(t *testing.T) {
	table := numbersTable(t, 3, column.SegmentRows, 2)
	num, err := table.Snapshot().Numbered()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []int64{0, 2, 3, 4, column.SegmentRows + 2, column.SegmentRows + 3, column.SegmentRows + 4} {
		if v := num.Snapshot().Value(row, 2); v.I != row {
			t.Errorf("row %d has number %d", row, v.I)
		}
	}
	for i, s := range num.Snapshot().Segments {
		z := s.Chunks[2].Zone
		if lo, hi := s.Chunks[2].Value(0), s.Chunks[2].Value(s.Rows-1); z.Min != lo || z.Max != hi {
			t.Errorf("segment %d: zone %v to %v, values %v to %v", i, z.Min, z.Max, lo, hi)
		}
	}
}

// TestUnconflicting compares with the plain meaning: a row stays unless one before it, of the table or among the new, has its key.
func TestUnconflicting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		table := NewTable("t", []ColumnDef{{Name: "a", Type: types.TInt32}, {Name: "b", Type: types.TText}}, [][]int{{0}, {1, 0}, {1}}, column.DefaultOptions())
		keys := [][]int{{0}, {1}, {0, 1, 2}, {1, 2}}[r.IntN(4)]
		row := func() []types.Value {
			a, b := types.IntValue(types.TInt32, r.Int64N(8)), types.TextValue(string(rune('a'+r.IntN(6))))
			if r.IntN(5) == 0 {
				a = types.NullOf(types.TInt32)
			}
			if r.IntN(5) == 0 {
				b = types.NullOf(types.TText)
			}
			return []types.Value{a, b}
		}
		fill := func(t *Table, n int) (rows [][]types.Value) {
			a := t.NewAppender()
			a.Trusted = true
			for range n {
				v := row()
				rows = append(rows, v)
				if err := a.AppendRow(v...); err != nil {
					panic(err)
				}
			}
			if err := a.Close(); err != nil {
				panic(err)
			}
			return rows
		}
		seen := fill(table, r.IntN(4))
		other := table.With(nil)
		var want []int64
		for i, v := range fill(other, 1+r.IntN(9)) {
			clash := slices.ContainsFunc(seen, func(o []types.Value) bool {
				return slices.ContainsFunc(keys, func(k int) bool {
					for _, c := range table.Keys[k] {
						if v[c].Null || o[c].Null || types.Compare(v[c], o[c]) != 0 {
							return false
						}
					}
					return true
				})
			})
			if !clash {
				want, seen = append(want, int64(i)), append(seen, v)
			}
		}
		got, err := table.Unconflicting(other.Snapshot().Segments, keys, nil)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	}
}

func TestSequence(t *testing.T) {
	q := NewSequence(Sequence{Name: "q", Increment: 2, Min: 1, Max: 4, Start: 1})
	var got []string
	for range 3 {
		n, err := q.Next()
		got = append(got, fmt.Sprint(n, " ", err != nil))
	}
	if s := fmt.Sprint(got); s != "[1 false 3 false 0 true]" {
		t.Error(s)
	}
	lo, hi := SequenceBounds(-1)
	d := NewSequence(Sequence{Name: "d", Increment: -1, Min: lo, Max: hi, Start: hi})
	if err := d.Set(lo+1, true); err != nil {
		t.Fatal(err)
	}
	first, _ := d.Next()
	if _, err := d.Next(); first != lo || err == nil {
		t.Errorf("%d, then %v", first, err)
	}
	if err := q.Set(5, true); err == nil {
		t.Error("a number out of bounds was set")
	}
}
