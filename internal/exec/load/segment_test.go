package load

import (
	"context"
	"errors"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fakeFile loads columns of 4 KiB each: texts in column 1, what the file keeps itself in column 2, a failure in column 3.
type fakeFile struct{ loads []int }

var errDamaged = errors.New("damaged")

func (f *fakeFile) Load(_ context.Context, col int, _ catalog.Need, take func(int) (uintptr, error)) (*column.Chunk, bool, error) {
	f.loads = append(f.loads, col)
	switch col {
	case 2:
		return &column.Chunk{Type: types.TInt64}, true, nil
	case 3:
		return nil, false, errDamaged
	}
	a, err := take(4096)
	c := &column.Chunk{Type: types.TInt64, Data: a}
	if col == 1 {
		c.Type, c.Enc = types.TText, column.EncStr
	}
	return c, false, err
}

func (f *fakeFile) Cost(col int) int64                                { return int64(100 - col) }
func (f *fakeFile) Join(this, next *catalog.Segment) *catalog.Segment { return nil }

// TestSegmentGivesBack: the memory of a segment goes with its last row, but for texts that something points to, and not
// if the rows will be processed again.
func TestSegmentGivesBack(t *testing.T) {
	for _, c := range []struct {
		name        string
		stay, again bool
		left        int // blocks behind the last row
	}{{"nothing stays", false, false, 0}, {"texts stay", true, false, 1}, {"once more", false, true, 2}} {
		m := mem.New(nil, true, false)
		var kept []any
		f := &fakeFile{}
		d := &Loader{Ctx: t.Context(), Team: work.NewTeam(t.Context(), 1), Mem: m, Again: c.again,
			Keep: func(x any) { kept = append(kept, x) }, Stay: func(int) bool { return c.stay }}
		l := NewSegment(&catalog.Segment{Rows: 10, Chunks: make([]*column.Chunk, 4), Loader: f}, []int{2, 0, 1, 0})
		if err := l.Load(d, 0, nil); err != nil {
			t.Fatal(err)
		}
		if len(f.loads) != 3 || len(kept) != 1 || kept[0] != l.Chunk(2) {
			t.Errorf("%s: columns %v were loaded, %d are kept", c.name, f.loads, len(kept))
		}
		l.Done(d, 9)
		if n := len(m.Blocks()); n != 2 || l.Chunk(0) == nil {
			t.Errorf("%s: %d blocks before the last row", c.name, n)
		}
		l.Done(d, 1)
		if n := len(m.Blocks()); n != c.left {
			t.Errorf("%s: %d blocks behind the last row, not %d", c.name, n, c.left)
		}
		m.Close()
	}
}

// TestSegmentFails: all who wait for a segment get the error of the column that failed.
func TestSegmentFails(t *testing.T) {
	m := mem.New(nil, true, false)
	defer m.Close()
	d := &Loader{Ctx: t.Context(), Team: work.NewTeam(t.Context(), 1), Mem: m, Keep: func(any) {}, Stay: func(int) bool { return false }}
	l := NewSegment(&catalog.Segment{Rows: 10, Chunks: make([]*column.Chunk, 4), Loader: &fakeFile{}}, []int{0, 3})
	for range 2 {
		if err := l.Load(d, 0, nil); err != errDamaged {
			t.Error("got", err)
		}
	}
}

// TestJudge: of a segment, those stretches are needed in which a row passes; if they are most, all of it is.
func TestJudge(t *testing.T) {
	const n = catalog.NeedRows
	s := NewSieve(nil)
	judge := func(rows int, passing ...int) catalog.Need {
		return s.Judge(rows, func(passes func(int)) {
			for _, r := range passing {
				passes(r)
			}
		})
	}
	need := judge(4*n+1, 0, 1, n-1, 2*n, 4*n)
	if want := []bool{true, false, true, false, true}; len(need) != len(want) {
		t.Fatal("got", need)
	} else {
		for i := range want {
			if need[i] != want[i] {
				t.Errorf("stretch %d: %v", i, need)
			}
		}
	}
	if need := judge(4*n, 0, n, 2*n); need == nil || s.vain.Load() != 0 {
		t.Error("a quarter is left out, and it was in vain:", need)
	}
	if need := judge(4*n, 0, n, 2*n, 3*n); need != nil || s.vain.Load() != 1 {
		t.Error("nothing is left out, and only some is needed:", need)
	}
	if need := judge(4 * n); need == nil || need.Any(0, 4*n) || s.vain.Load() != 0 {
		t.Error("no row passes, and some are needed:", need)
	}
	// many rows of one stretch are one stretch
	var all []int
	for r := range n {
		all = append(all, n+r)
	}
	if need := judge(4*n, all...); need == nil || need.Any(0, n) || !need.Any(n, 2*n) || need.Any(2*n, 4*n) {
		t.Error("one stretch of four:", need)
	}
}

// TestSplit: columns that filters test come first, if the others are large enough, unless that was in vain.
func TestSplit(t *testing.T) {
	cols := []int{0, 1, 2}
	seg := &catalog.Segment{Loader: costs{10, worthSieve - 1, 1}}
	s := NewSieve(map[int]bool{0: true})
	first, rest, ok := s.split(seg, cols, 1)
	if !ok || len(first) != 1 || first[0] != 0 || len(rest) != 2 {
		t.Error("got", first, rest, ok)
	}
	if _, _, ok := s.split(seg, cols[:2], 1); ok {
		t.Error("a byte too few, and it is sieved")
	}
	s.vain.Store(vainSegments - 1)
	if _, _, ok := s.split(seg, cols, 1); !ok {
		t.Error("given up too early")
	}
	s.vain.Store(vainSegments)
	if _, _, ok := s.split(seg, cols, 1); ok {
		t.Error("not given up")
	}
	if _, _, ok := s.split(seg, cols, retrySegments); !ok {
		t.Error("not tried again")
	}
	if _, _, ok := (*Sieve)(nil).split(seg, cols, 0); ok {
		t.Error("without filters it is sieved")
	}
}

// costs are columns of so many bytes.
type costs []int64

func (c costs) Load(context.Context, int, catalog.Need, func(int) (uintptr, error)) (*column.Chunk, bool, error) {
	panic("not loaded here")
}
func (c costs) Cost(col int) int64                                { return c[col] }
func (c costs) Join(this, next *catalog.Segment) *catalog.Segment { return nil }
