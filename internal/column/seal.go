package column

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Sealing goes in two steps: survey each column for its range, order and the form that
// is narrowest; then, with all sizes known, write every column of the segment into one Mem.

// sketchRows is the number of rows from which sealing makes a sketch. For fewer rows
// AddTo reads the values themselves, which costs less than a sketch to carry them.
const sketchRows = 1 << 12

// Seal makes a chunk of the collected values. The dictionary is that of the column,
// or nil for none. The builder keeps its values until Reset.
func (b *Builder) Seal(opts Options, dict *Dict) (*Chunk, error) {
	cs, err := SealAll([]*Builder{b}, opts, []*Dict{dict}, nil, Unstopped)
	if err != nil {
		return nil, err
	}
	return cs[0], nil
}

// SealAll seals the columns of a segment, which share one piece of memory. dicts may be
// nil, or nil for columns without dictionary; acct counts what they grow. stopped is asked now and then: its error ends it.
func SealAll(bs []*Builder, opts Options, dicts []*Dict, acct *budget.Account, stopped func() error) ([]*Chunk, error) {
	plans := make([]sealing, len(bs))
	chunks := make([]*Chunk, len(bs))
	size := 0
	for i, b := range bs {
		if b.n != bs[0].n {
			panic(fmt.Sprintf("column: builders of one segment have %d and %d rows", bs[0].n, b.n))
		}
		p := &plans[i]
		p.b, p.opts, p.acct = b, opts, acct
		if dicts != nil {
			p.dict = dicts[i]
		}
		if err := stopped(); err != nil {
			return nil, err
		}
		if err := p.survey(); err != nil {
			return nil, err
		}
		size += align(p.dataBytes) + align(p.nullBytes) + align(p.heapBytes)
	}
	mem, err := Alloc(size)
	if err != nil {
		return nil, err
	}
	at := mem.Addr()
	for i := range plans {
		p := &plans[i]
		c := new(Chunk) // so that a chunk does not keep the plans of its segment
		*c = p.c
		chunks[i] = c
		c.mem = mem
		c.Data, at = at, at+uintptr(align(p.dataBytes))
		if p.nullBytes > 0 {
			c.Null, at = at, at+uintptr(align(p.nullBytes))
		}
		if p.heapBytes > 0 {
			c.Heap, at = at, at+uintptr(align(p.heapBytes))
		}
		if err := stopped(); err != nil {
			mem.Free()
			return nil, err
		}
		p.write(c)
	}
	return chunks, nil
}

// Unstopped stops nothing.
func Unstopped() error { return nil }

func align(n int) int { return (n + Align - 1) &^ (Align - 1) }

// sealing is one column on its way to a chunk.
type sealing struct {
	b    *Builder
	opts Options
	dict *Dict
	acct *budget.Account
	c    Chunk // all but the addresses
	sk   *registers

	dataBytes, nullBytes, heapBytes int
}

// scratch is what a builder keeps for its next seal.
type scratch struct {
	seen   []bool   // ints: which codes of a small range occur
	slots  []uint32 // strings: hash table of local codes, 0 = empty
	codes  []uint32 // strings: local code of each row
	varied bool     // strings: the last time there were too many different ones
	uniq   [][]byte // strings: by local code
	keys   []words  // strings: first bytes by local code
	final  []uint32 // strings: dictionary code by local code
}

// survey fills in everything but the addresses.
func (p *sealing) survey() error {
	b, c := p.b, &p.c
	c.Rows, c.Type = b.n, b.t
	c.Zone.NullCount = b.nNull
	if b.nNull > 0 {
		c.Nulls = true
		p.nullBytes = b.n + PadRows
	}
	if b.n >= sketchRows {
		p.sk = new(registers)
		c.sketch = p.sk
	}
	var err error
	switch b.t.Phys() {
	case types.PhysStr:
		err = p.surveyText()
	case types.PhysF64:
		c.Enc, c.Width = EncF64, 8
		if b.t.Kind == types.Float32 {
			c.Width = 4
		}
		p.surveyFloats()
	case types.PhysIvl:
		c.Enc, c.Width = EncIvl, 16
		p.surveyIntervals()
	default:
		if b.wide() {
			c.Enc, c.Width = EncI128, 16
			p.surveyWide()
		} else {
			c.Enc = EncInt
			p.surveyInts()
		}
	}
	p.dataBytes = (b.n + PadRows) * int(c.Width)
	return err
}

// write stores the values at the addresses in c.
func (p *sealing) write(c *Chunk) {
	b := p.b
	switch c.Enc {
	case EncInt:
		p.writeInts(c)
	case EncI128, EncIvl:
		dst := slice[[2]int64](c.Data, b.n)
		for i := range dst {
			dst[i] = [2]int64{b.ints[i], b.highs[i]}
		}
	case EncF64:
		if c.Width == 8 {
			copy(slice[float64](c.Data, b.n), b.floats)
		} else {
			dst := slice[float32](c.Data, b.n)
			for i := range dst {
				dst[i] = float32(b.floats[i])
			}
		}
	case EncDict:
		p.writeCodes(c)
	case EncStr:
		p.writeText(c)
	}
	if c.Nulls {
		copy(slice[uint8](c.Null, b.n), b.nulls)
	}
}

// numbers is the unsigned integer types a code may have.
type numbers interface{ uint8 | uint16 | uint32 }

// codeWidth is the bytes that codes up to top need.
func codeWidth(top uint64) uint8 {
	switch {
	case top < 1<<8:
		return 1
	case top < 1<<16:
		return 2
	case top < 1<<32:
		return 4
	}
	return 8
}
