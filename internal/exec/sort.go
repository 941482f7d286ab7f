package exec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// entry is a tuple being sorted: the first key in a form that orders as a number, and
// where the tuple is. Most comparisons need no look at the tuple.
type entry struct {
	prefix uint64
	addr   uintptr
	pos    int64 // position in the input: sorting is stable
}

// sorter orders tuples by a sink's keys.
type sorter struct {
	r        *run
	keys     []sortKey
	compared int
}

func (s *collectSink) newSorter() *sorter {
	return &sorter{r: s.r, keys: sortKeys(s.tuple, s.s.Keys, s.r)}
}

func (s *sorter) entry(a uintptr, pos int64) entry { return entry{s.keys[0].prefix(a), a, pos} }

func (s *sorter) compare(a, b entry) int {
	if s.compared++; s.compared&(1<<16-1) == 0 {
		if err := s.r.canceled(); err != nil {
			panic(err) // recovered at the door of the room
		}
	}
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	for i := range s.keys {
		if c := s.keys[i].compare(a.addr, b.addr); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.pos, b.pos)
}

// entries is room for n entries in the query's memory.
func (s *collectSink) entries(n int64) ([]entry, func(), error) {
	a, err := s.r.mem.room(int(n) * int(unsafe.Sizeof(entry{})))
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*entry)(pointer(a)), n)[:0], func() { s.r.mem.free(a) }, nil
}

// wanted is how many of n rows the result needs.
func (s *collectSink) wanted(n int64) int64 {
	if s.s.Limit < 0 || s.s.Limit >= n-s.s.Offset {
		return n
	}
	return s.s.Limit + s.s.Offset
}

// sort orders the collected tuples; of those that a limit cuts off none is ordered.
func (s *collectSink) sort() error {
	n := s.out.Len()
	if n == 0 {
		return nil
	}
	entries, release, err := s.entries(n)
	if err != nil {
		return err
	}
	defer release()
	by := s.newSorter()
	err = s.out.poll(s.r, func(a uintptr) bool {
		entries = append(entries, by.entry(a, int64(len(entries))))
		return true
	})
	if err != nil {
		return err
	}
	slices.SortFunc(entries, by.compare)
	entries = entries[:s.wanted(n)]
	mem, err := s.r.mem.room(len(entries) * 8)
	if err != nil {
		return err
	}
	out := words(mem, len(entries))
	for i, e := range entries {
		out[i] = uint64(e.addr)
	}
	s.out.Pieces = []Piece{{mem, len(entries)}}
	s.out.Indirect = true
	return nil
}

// sortKey compares one field of tuples.
type sortKey struct {
	f          *layout.Field
	desc       bool
	nullsFirst bool
	text       func(code uint64) []byte // dictionary fields
}

func sortKeys(t *layout.Tuple, ks []plan.SortKey, r *run) []sortKey {
	out := make([]sortKey, len(ks))
	for i, k := range ks {
		f := t.Find(int32(k.Col))
		out[i] = sortKey{f: f, desc: k.Desc, nullsFirst: k.NullsFirst}
		if f.Desc.Form == layout.Code {
			view := r.view(f.Desc.Dict)
			out[i].text = func(code uint64) []byte { return view.Bytes(int(code)) }
		}
	}
	return out
}

func (k *sortKey) isNull(a uintptr) bool {
	return k.f.Null >= 0 && load8(a+uintptr(k.f.Null)) != 0
}

func (k *sortKey) bytes(a uintptr) []byte {
	w := load64(a + uintptr(k.f.Off))
	if k.text != nil {
		return k.text(w)
	}
	return bytesAt(uintptr(w), int(load64(a+uintptr(k.f.Off)+8)))
}

// prefix maps the key to a number: smaller numbers sort first, equal ones need compare.
func (k *sortKey) prefix(a uintptr) uint64 {
	if k.isNull(a) {
		if k.nullsFirst {
			return 0
		}
		return math.MaxUint64
	}
	var p uint64
	w := load64(a + uintptr(k.f.Off))
	switch k.f.Desc.Form {
	case layout.I64:
		p = w ^ 1<<63
	case layout.I128:
		p = load64(a+uintptr(k.f.Off)+8) ^ 1<<63
	case layout.F64:
		p = orderedFloat(math.Float64frombits(w))
	case layout.Ivl:
		m, d, us := int32(int64(w)>>32), int32(uint32(w)), int64(load64(a+uintptr(k.f.Off)+8))
		p = uint64(types.IntervalKey(m, d, us).Hi) ^ 1<<63
	default:
		var b [8]byte
		copy(b[:], k.bytes(a))
		p = binary.BigEndian.Uint64(b[:])
	}
	if k.desc {
		p = ^p
	}
	// NULLs have the outermost numbers to themselves only roughly; compare settles ties.
	return p
}

// orderedFloat maps floats to numbers in PostgreSQL's order: NaN above all, zeros equal.
func orderedFloat(f float64) uint64 {
	if f != f {
		return math.MaxUint64
	}
	b := math.Float64bits(f + 0)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func (k *sortKey) compare(a, b uintptr) int {
	na, nb := k.isNull(a), k.isNull(b)
	if na || nb {
		switch {
		case na && nb:
			return 0
		case na == k.nullsFirst:
			return -1
		default:
			return 1
		}
	}
	off := uintptr(k.f.Off)
	var c int
	switch k.f.Desc.Form {
	case layout.I64:
		c = cmp.Compare(int64(load64(a+off)), int64(load64(b+off)))
	case layout.I128:
		x := types.Int128{Lo: load64(a + off), Hi: int64(load64(a + off + 8))}
		y := types.Int128{Lo: load64(b + off), Hi: int64(load64(b + off + 8))}
		c = x.Cmp(y)
	case layout.F64:
		c = cmp.Compare(orderedFloat(math.Float64frombits(load64(a+off))), orderedFloat(math.Float64frombits(load64(b+off))))
	case layout.Ivl:
		c = interval(a + off).Cmp(interval(b + off))
	default:
		c = bytes.Compare(k.bytes(a), k.bytes(b))
	}
	if k.desc {
		c = -c
	}
	return c
}

func interval(a uintptr) types.Int128 {
	w := int64(load64(a))
	return types.IntervalKey(int32(w>>32), int32(uint32(w)), int64(load64(a+8)))
}
