package exec

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// newRows tells tuples that were not seen before. It keeps copies of them, which a hash table finds: pairs of a hash and an
// address, 0 where there is none.
type newRows struct {
	r     *run
	tuple *layout.Tuple
	by    *sorting.Sorter // compares all columns; NULLs are equal
	kept  tuples.Buffer
	at    uintptr // of slots
	slots []uint64
	n     int
	seed  maphash.Seed
}

func (r *run) newNewRows(t *layout.Tuple) *newRows {
	by := sorting.New(t, allColumns(t), sorting.Options{Team: r.team, Mem: r.mem, View: r.view})
	return &newRows{r: r, tuple: t, by: by, kept: tuples.NewBuffer(r.mem, t.Size), seed: maphash.MakeSeed()}
}

// of are copies of the rows that are new, each once.
func (d *newRows) of(rows tuples.Rows) ([]tuples.Piece, error) {
	var err error
	poll := rows.Poll(d.r.team, func(a uintptr) bool {
		err = d.add(a)
		return err == nil
	})
	if err == nil {
		err = poll
	}
	d.kept.Cut(d.kept.Cur)
	out := d.kept.Pieces
	d.kept.Pieces = nil
	return out, err
}

// add keeps the tuple at a if it is new.
func (d *newRows) add(a uintptr) error {
	if 2*d.n >= len(d.slots)/2 {
		if err := d.grow(); err != nil {
			return err
		}
	}
	h := d.hash(a)
	i := d.find(h, a)
	if d.slots[i+1] != 0 {
		return nil
	}
	if err := d.kept.Push(a); err != nil {
		return err
	}
	d.slots[i], d.slots[i+1] = h, uint64(d.kept.Cur)-uint64(d.tuple.Size)
	d.n++
	return nil
}

// find is the place of the tuple with hash h that equals the one at a, or where it belongs.
func (d *newRows) find(h uint64, a uintptr) int {
	mask := len(d.slots)/2 - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := d.slots[2*i+1]
		if at == 0 || d.slots[2*i] == h && a != 0 && d.by.Compare(uintptr(at), a) == 0 {
			return 2 * i
		}
	}
}

// grow doubles the table.
func (d *newRows) grow() error {
	size := max(2*len(d.slots), 512)
	at, err := d.r.mem.Alloc(8 * size)
	if err != nil {
		return err
	}
	old, oldAt := d.slots, d.at
	d.at, d.slots = at, mem.Words(at, size)
	for i := 0; i < len(old); i += 2 {
		if old[i+1] != 0 {
			k := d.find(old[i], 0) // all are different
			d.slots[k], d.slots[k+1] = old[i], old[i+1]
		}
	}
	if oldAt != 0 {
		d.r.mem.Free(oldAt)
	}
	return nil
}

// hash is the same for tuples that are equal.
func (d *newRows) hash(a uintptr) uint64 {
	h := uint64(14695981039346656037)
	mix := func(x uint64) {
		hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	for i := range d.tuple.Fields {
		f := &d.tuple.Fields[i]
		if f.Null >= 0 && mem.Load8(a+uintptr(f.Null)) != 0 {
			mix(1)
			continue
		}
		at := a + uintptr(f.Off)
		switch f.Desc.Form {
		case layout.Str:
			text := mem.Bytes(uintptr(mem.Load64(at)), int(mem.Load64(at+8)))
			if f.Desc.Type.Keyed() {
				text = []byte(types.OrderKey(types.Value{Type: f.Desc.Type, S: string(text)}).S)
			}
			mix(maphash.Bytes(d.seed, text))
		case layout.F64:
			switch x := math.Float64frombits(mem.Load64(at)); {
			case x != x:
				mix(2)
			default:
				mix(math.Float64bits(x + 0))
			}
		case layout.I128:
			mix(mem.Load64(at))
			mix(mem.Load64(at + 8))
		case layout.Ivl:
			w := int64(mem.Load64(at))
			k := types.IntervalKey(int32(w>>32), int32(uint32(w)), int64(mem.Load64(at+8)))
			mix(k.Lo)
			mix(uint64(k.Hi))
		default:
			mix(tuples.WordOf(f).Load(a))
		}
	}
	return h
}
