package gpu

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// block is the context that a kernel finds its words in, and where it leaves its status.
type block struct {
	words  []byte
	params []int // offsets of those that are parameters of the kernel
	kept   int   // bytes that the kernel finds in memory
	// dynamic is the shared memory of a block of so many threads.
	dynamic func(threads int) int
	at      device.Addr
	await   func() error // puts what the kernel waits for before it; nil: nothing
}

func (r *run) newContext(f *emit.Fragment) *block {
	return &block{words: r.pinnedWords(f.CtxSize), params: f.Params, kept: f.CtxKept, dynamic: f.Dynamic}
}

func (c *block) set(off int, x uint64) { binary.LittleEndian.PutUint64(c.words[off:], x) }
func (c *block) get(off int) uint64    { return binary.LittleEndian.Uint64(c.words[off:]) }

func (c *block) clearCounts(f *emit.Fragment) {
	for _, n := range f.Counts {
		c.set(n.Off, 0)
	}
	for _, n := range f.Lanes {
		for k := range layout.WarpLanes {
			c.set(n.Off+8*k, 0)
		}
	}
}

// fill sets the words that do not change between launches.
func (r *run) fill(c *block, f *emit.Fragment, src *source, luts []device.Addr) error {
	c.set(layout.CtxSource, uint64(src.addr))
	var pool device.Addr
	for _, w := range f.Words {
		var x uint64
		switch w.Kind {
		case code.WordData, code.WordNull, code.WordRow: // of each chunk its own
		case code.WordBase:
			x = uint64(src.scan.cols[w.Index].base)
		case code.WordHeap:
			x = uint64(src.scan.cols[w.Index].heap)
		case code.WordDesc, code.WordDHeap:
			d := w.Dict
			if d == nil {
				d = src.scan.cols[w.Index].dict
			}
			dict, err := r.dict(d)
			if err != nil {
				return err
			}
			if x = uint64(dict.desc); w.Kind == code.WordDHeap {
				x = uint64(dict.heap)
			}
		case code.WordRanks:
			a, _, err := r.lease.ranks(w.Dict)
			if err != nil {
				return err
			}
			x = uint64(a)
		case code.WordPool:
			if pool == 0 {
				var err error
				if pool, err = r.pool(f); err != nil {
					return err
				}
			}
			x = uint64(pool) + uint64(w.Index)
		case code.WordSlots:
			x = uint64(r.walk.Tables[w.Build].Slots)
		case code.WordTuples:
			x = uint64(r.walk.Tables[w.Build].Tuples)
		case code.WordZero:
			a, err := r.zeros()
			if err != nil {
				return err
			}
			x = uint64(a)
		case code.WordLut:
			x = uint64(luts[w.Index])
		case code.WordQueue:
			x = uint64(src.queue)
		case code.WordFilter:
			x = uint64(src.filters[w.Index])
		case code.WordCount, code.WordLanes, code.WordSpace, code.WordSpaceEnd, code.WordSpaceTakes: // of each launch its own
		case code.WordLiteral:
			x = uint64(f.Literals[w.Index])
		default:
			return diag.Internalf("gpu", "context word of kind %d", w.Kind)
		}
		c.set(w.Off, x)
	}
	return nil
}
