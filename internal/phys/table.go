package phys

import (
	"fmt"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/layout"
)

// BuildSide is what is known of a join's build side without looking at its tuples.
type BuildSide struct {
	Tuple    *layout.Tuple // its first fields are the keys
	Keys     int           // how many; 0: every tuple is a candidate for every row
	Rows     int64
	NoDirect bool // the technique of tables that are addressed by the key is switched off
	// FreeSlots is how many slots cost nothing worth mentioning; 0: as many as for a CPU.
	FreeSlots int64
	// MaxSlots bounds the slots of tables that are addressed by the key, MaxBytes what their tuples take together; 0: nothing does.
	MaxSlots, MaxBytes int64
}

// KeyFacts are what has to be found out of a build side's keys.
type KeyFacts interface {
	// Range is the smallest and the largest value of the only key, an integer that is never NULL; false: they are not
	// known. It is asked for only where there are rows.
	Range() (lo, hi int64, known bool, err error)
	// Unique reports that no two tuples have the same key, or, where t is hashed, the same hash. It is asked at most once
	// for each kind, so that it may as well make the table and see.
	Unique(t Table) (bool, error)
}

// Table is how a build side is organized.
type Table struct {
	Kind      layout.TableKind
	Min, Span int64 // of kinds that are addressed by the key
	Bits      uint8 // of hashed kinds: log2 of the number of slots
}

func (t Table) String() string {
	switch {
	case t.Span > 0:
		return fmt.Sprintf("%s table of %d keys from %d on", t.Kind, t.Span, t.Min)
	case t.Bits > 0:
		return fmt.Sprintf("%s table of %d slots", t.Kind, uint64(1)<<t.Bits)
	}
	return t.Kind.String() + " table"
}

const (
	// denseFactor is how many slots a key may cost at most in a table that is addressed by the key …
	denseFactor = 8
	// … beside those that cost nothing worth mentioning.
	denseFree = 4096
	// denseRows is what slots of 4 bytes can tell apart.
	denseRows = 1 << 31
)

// ChooseTable decides how a build side is organized.
func ChooseTable(b BuildSide, facts KeyFacts) (Table, error) {
	if b.Keys == 0 {
		return Table{Kind: layout.List}, nil
	}
	if t, ok, err := b.dense(facts); ok || err != nil {
		return t, err
	}
	t := Table{Kind: layout.Open, Bits: uint8(max(bits.Len64(2*uint64(b.Rows)), 3))}
	unique, err := facts.Unique(t)
	if unique || err != nil {
		return t, err
	}
	return Table{Kind: layout.Buckets, Bits: uint8(max(bits.Len64(uint64(b.Rows)), 2))}, nil
}

// EmptyTable is the table of a build side without tuples. Of what kind it is says what was expected: code that was made for others
// like it, with other literals, finds nothing in this one.
func EmptyTable(expected BuildSide, believed KeyFacts) (Table, error) {
	t, err := ChooseTable(expected, believed)
	switch t.Kind {
	case layout.Direct, layout.DenseBuckets:
		t.Min, t.Span = 0, 1
	case layout.Open:
		t.Bits = 3
	case layout.Buckets:
		t.Bits = 2
	}
	return t, err
}

// dense is a table that is addressed by the key itself, if keys are integers that lie close together.
func (b BuildSide) dense(facts KeyFacts) (t Table, ok bool, err error) {
	key := &b.Tuple.Fields[0]
	if b.Keys != 1 || key.Desc.Form != layout.I64 || key.Null >= 0 || b.NoDirect {
		return t, false, nil
	}
	if b.Rows == 0 {
		return Table{Kind: layout.Direct}, true, nil
	}
	lo, hi, known, err := facts.Range()
	if err != nil || !known {
		return t, false, err
	}
	span := uint64(hi) - uint64(lo) + 1 // 0: all there are
	if span == 0 || span > uint64(denseFactor*b.Rows+max(b.FreeSlots, denseFree)) || b.Rows >= denseRows || !b.reaches(span) {
		return t, false, nil
	}
	t = Table{Kind: layout.Direct, Min: lo, Span: int64(span)}
	unique, err := facts.Unique(t)
	if !unique {
		t.Kind = layout.DenseBuckets
	}
	return t, true, err
}

// reaches reports that so many slots can be had, and can tell all tuples apart.
func (b BuildSide) reaches(span uint64) bool {
	return (b.MaxSlots == 0 || span <= uint64(b.MaxSlots)) && (b.MaxBytes == 0 || b.Rows <= b.MaxBytes/int64(b.Tuple.Size))
}
