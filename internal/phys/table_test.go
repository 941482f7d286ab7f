package phys

import (
	"errors"
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// facts are given, and remember what they were asked for.
type facts struct {
	lo, hi  int64
	unknown bool
	unique  bool
	err     error
	asked   string
}

func (f *facts) Range() (lo, hi int64, known bool, err error) {
	f.asked += "range "
	return f.lo, f.hi, !f.unknown, f.err
}

func (f *facts) Unique(t Table) (bool, error) {
	f.asked += t.Kind.String() + " "
	return f.unique, f.err
}

// TestChooseTable holds decisions to what they print, and to the facts that they may ask for.
func TestChooseTable(t *testing.T) {
	side := func(keys int, rows int64) BuildSide {
		fields := make([]layout.Field, max(keys, 1))
		for i := range fields {
			fields[i].Desc = layout.Desc{Type: types.TInt64, Form: layout.I64}
		}
		return BuildSide{Tuple: layout.NewTuple(false, false, fields), Keys: keys, Rows: rows}
	}
	switched := side(1, 100)
	switched.NoDirect = true
	nullable := side(1, 100)
	nullable.Tuple.Fields[0].Null = 8
	bounded := func(slots, bytes int64) BuildSide {
		b := side(1, 100)
		b.MaxSlots, b.MaxBytes = slots, bytes
		return b
	}
	for _, c := range []struct {
		side  BuildSide
		facts facts
		want  string
		asked string
	}{
		{side(0, 100), facts{}, "list table", ""},
		{side(1, 0), facts{}, "direct table", ""},
		{side(1, 100), facts{lo: -5, hi: 94, unique: true}, "direct table of 100 keys from -5 on", "range direct "},
		{side(1, 100), facts{lo: -5, hi: 94}, "dense buckets table of 100 keys from -5 on", "range direct "},
		{side(1, 100), facts{lo: 0, hi: 8*100 + 4095, unique: true}, "direct table of 4896 keys from 0 on", "range direct "},
		{side(1, 100), facts{lo: 0, hi: 8*100 + 4096, unique: true}, "open table of 256 slots", "range open "},
		{side(1, 100), facts{lo: math.MinInt64, hi: math.MaxInt64}, "buckets table of 128 slots", "range open "},
		{side(1, 100), facts{unknown: true, unique: true}, "open table of 256 slots", "range open "},
		{side(1, 1<<31), facts{lo: 0, hi: 1<<31 - 1, unique: true}, "open table of 8589934592 slots", "range open "},
		{side(2, 100), facts{unique: true}, "open table of 256 slots", "open "},
		{side(2, 1), facts{}, "buckets table of 4 slots", "open "},
		{switched, facts{unique: true}, "open table of 256 slots", "open "},
		{nullable, facts{unique: true}, "open table of 256 slots", "open "},
		{bounded(100, 0), facts{lo: 0, hi: 99, unique: true}, "direct table of 100 keys from 0 on", "range direct "},
		{bounded(99, 0), facts{lo: 0, hi: 99, unique: true}, "open table of 256 slots", "range open "},
		{bounded(0, 100*8), facts{lo: 0, hi: 99, unique: true}, "direct table of 100 keys from 0 on", "range direct "},
		{bounded(0, 100*8-1), facts{lo: 0, hi: 99, unique: true}, "open table of 256 slots", "range open "},
	} {
		got, err := ChooseTable(c.side, &c.facts)
		if got.String() != c.want || c.facts.asked != c.asked || err != nil {
			t.Errorf("%d keys, %d rows: %s, asked for %q, %v; want %s, %q", c.side.Keys, c.side.Rows, got, c.facts.asked, err, c.want, c.asked)
		}
	}
	broken := errors.New("broken")
	if _, err := ChooseTable(side(1, 10), &facts{hi: 10, err: broken}); err != broken {
		t.Errorf("an error is lost: %v", err)
	}
}

// TestChooseKeySet: exact sets as long as they are small.
func TestChooseKeySet(t *testing.T) {
	for _, c := range []struct {
		rows, lo, hi int64
		want         string
	}{
		{1, 0, 0, "bitmap"},
		{1000, 0, maxBitmap*8 - 1, "bitmap"},
		{1000, 0, maxBitmap * 8, "Bloom filter of 256 words"},
		{1, math.MinInt64, math.MaxInt64, "Bloom filter of 64 words"},
	} {
		if got := ChooseKeySet(c.rows, c.lo, c.hi, Capabilities{}).String(); got != c.want {
			t.Errorf("%d rows from %d to %d: %s, want %s", c.rows, c.lo, c.hi, got, c.want)
		}
	}
}

// TestChooseWideSet: where they may be large, exact sets must not be too sparse.
func TestChooseWideSet(t *testing.T) {
	can := Capabilities{WideBitmaps: 64 << 20}
	for _, c := range []struct {
		rows, hi int64
		want     string
	}{
		{1, maxBitmap*8 - 1, "bitmap"},
		{5 << 20, 64<<23 - 1, "bitmap"},
		{5 << 20, 64 << 23, "Bloom filter of 2097152 words"},
		{1 << 20, 16<<23 - 1, "bitmap"},
		{1<<20 - 1, 16<<23 - 1, "Bloom filter of 262144 words"},
		{1 << 20, 16 << 23, "Bloom filter of 524288 words"},
	} {
		if got := ChooseKeySet(c.rows, 0, c.hi, can).String(); got != c.want {
			t.Errorf("%d rows to %d: %s, want %s", c.rows, c.hi, got, c.want)
		}
	}
}
