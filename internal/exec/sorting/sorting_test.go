package sorting

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// row is what a tuple of the tests holds: a small integer, any float and a text, each NULL at times, and its number.
type row struct {
	null [3]bool
	i    int64
	f    float64
	s    []byte
	num  int64
}

// table writes rows as tuples; fields 0 to 3 are row's members.
func table(t *testing.T, m *mem.Memory, rows []row) tuples.Rows {
	fields := []layout.Field{
		{ID: 0, Desc: layout.Desc{Type: types.TInt64, Form: layout.I64, Nullable: true, Range: layout.Between(-50, 50)}},
		{ID: 1, Desc: layout.Desc{Type: types.TFloat64, Form: layout.F64, Nullable: true}},
		{ID: 2, Desc: layout.Desc{Type: types.TText, Form: layout.Str, Nullable: true}},
		{ID: 3, Desc: layout.Desc{Type: types.TInt64, Form: layout.I64, Range: layout.TypeRange(types.TInt64)}},
	}
	tuple := layout.NewTuple(false, false, fields)
	buf := tuples.NewBuffer(m, tuple.Size)
	texts := mem.Arena{Mem: m}
	one, err := m.Alloc(tuple.Size)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		s, err := texts.Put(string(r.s))
		if err != nil {
			t.Fatal(err)
		}
		word := func(k int) uintptr { return one + uintptr(tuple.Fields[k].Off) }
		mem.Store64(word(0), uint64(r.i))
		mem.Store64(word(1), math.Float64bits(r.f))
		mem.Store64(word(2), uint64(s))
		mem.Store64(word(2)+8, uint64(len(r.s)))
		mem.Store64(word(3), uint64(r.num))
		for k, null := range r.null {
			flag := byte(0)
			if null {
				flag = 1
			}
			mem.Store8(one+uintptr(tuple.Fields[k].Null), flag)
		}
		if err := buf.Push(one); err != nil {
			t.Fatal(err)
		}
	}
	buf.Cut(buf.Cur)
	return tuples.Rows{Tuple: tuple, Pieces: buf.Pieces}
}

// compareRows orders two rows by a key as SQL says: NaN above all, zeros equal.
func compareRows(a, b *row, k plan.SortKey) int {
	if x, y := a.null[k.Col], b.null[k.Col]; x || y {
		switch {
		case x && y:
			return 0
		case x == k.NullsFirst:
			return -1
		}
		return 1
	}
	c := 0
	switch k.Col {
	case 0:
		c = int(a.i - b.i)
	case 1:
		switch x, y := a.f, b.f; {
		case x != x || y != y:
			c = map[bool]int{true: 1}[x != x] - map[bool]int{true: 1}[y != y]
		case x < y:
			c = -1
		case x > y:
			c = 1
		}
	case 2:
		c = bytes.Compare(a.s, b.s)
	}
	if k.Desc {
		return -c
	}
	return c
}

// TestSort orders rows by keys of all kinds and directions and compares with a stable sort in Go, by radix and by
// comparison, on one thread and on several, as a whole and only the first.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	floats := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1.5, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64}
	words := []string{"", "a", "a\x00", "ab", "abcdefgh", "abcdefghi", "abcdefgh\x00", "ж", "zzzzzzzzzzzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzzzzzzzzzza"}
	for _, n := range []int{0, 1, 2, 20, 3000, 70_000} {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{i: rng.Int64N(101) - 50, f: floats[rng.IntN(len(floats))], s: []byte(words[rng.IntN(len(words))]), num: int64(i)}
			for k := range rows[i].null {
				rows[i].null[k] = rng.IntN(10) == 0
			}
		}
		ways := 16
		if n > 3000 {
			ways = 5
		}
		for way := range ways {
			keys := make([]plan.SortKey, 1+way%3)
			for i := range keys {
				keys[i] = plan.SortKey{Col: plan.ColID((way + i) % 3), Desc: rng.IntN(2) == 0, NullsFirst: rng.IntN(2) == 0}
			}
			threads, noRadix := 1+2*(way&1), way%5 == 4
			want := slices.Clone(rows)
			slices.SortStableFunc(want, func(a, b row) int {
				for _, k := range keys {
					if c := compareRows(&a, &b, k); c != 0 {
						return c
					}
				}
				return 0
			})
			first := max(n/3, min(n, 1))
			if way%2 == 0 {
				first = n
			}
			m := mem.New(nil, true, false)
			all := table(t, m, rows)
			s := New(all.Tuple, keys, Options{Team: work.NewTeam(context.Background(), threads), Mem: m, NoRadix: noRadix})
			if err := s.Sort(&all, int64(first)); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d rows, first %d, %d threads, keys %v", n, first, threads, keys)
			if got := all.Len(); got != int64(first) {
				t.Errorf("%s: %d rows", name, got)
			}
			k := 0
			all.Each(func(a uintptr) bool {
				if got := int64(mem.Load64(a + uintptr(all.Tuple.Fields[3].Off))); got != want[k].num {
					t.Errorf("%s: place %d has row %d, want %d", name, k, got, want[k].num)
					return false
				}
				k++
				return true
			})
			m.Close()
		}
	}
}

// TestWholeExtent: what is looked at block by block is in order only if the blocks are, too.
func TestWholeExtent(t *testing.T) {
	team := work.NewTeam(context.Background(), 1)
	for _, n := range []int{lookRows, lookRows + 1, 2 * lookRows, 2*lookRows + 2} {
		es := make([]uint64, n)
		for i := range es {
			es[i] = 1000 + uint64(i+1)/2 // equal ones, also across the border of blocks
		}
		check := func(what string, want bool) {
			t.Helper()
			x, err := wholeExtent(team, es)
			if err != nil || x.lo != slices.Min(es) || x.hi != slices.Max(es) || x.falls == want {
				t.Errorf("%d, %s: %+v, %v", n, what, x, err)
			}
		}
		check("in order", true)
		for _, at := range []int{1, lookRows - 1, lookRows, n - 1} {
			if at < n {
				was := es[at]
				es[at] = 7
				check(fmt.Sprintf("a fall before %d", at), false)
				es[at] = was
			}
		}
	}
}
