package gpu

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// writtenParts is where rows lie that were written in parts.
type writtenParts struct {
	starts        device.Addr // of a word for each part: its first row; and one more, for the end of the last
	rows, largest int64
	launches      int // of which each has parts of its own
}

// A block takes rows of a part at a thirtieth of the speed at which the whole device changes groups in its cache; few rows are no matter.
const (
	evenShare = 30
	fewRows   = 1 << 16
)

// even reports parts of which each may be a block's.
func (p *writtenParts) even() bool {
	return p.launches == 1 && (p.largest <= fewRows || p.largest <= p.rows/evenShare)
}

// noteParts keeps where the parts of a launch begin that wrote so many rows behind others.
func (x *passes) noteParts(before, rows int64) error {
	s, ok := x.sink.(*collectSink)
	if !ok {
		return nil
	}
	p := &s.parts
	if p.launches++; p.launches > 1 || before > 0 {
		p.launches = 2
		return nil
	}
	r := x.r
	a, err := r.alloc(8 * (x.parts + 1))
	if err != nil {
		return err
	}
	if err := r.do(partStarts, x.parts+1, uint64(x.places), uint64(x.blocks), uint64(x.parts), uint64(rows), uint64(a)); err != nil {
		return err
	}
	starts, err := r.read(a, int(x.parts+1))
	if err != nil {
		return err
	}
	p.starts, p.rows = a, rows
	for k := range x.parts {
		p.largest = max(p.largest, int64(starts[k+1]-starts[k]))
	}
	return nil
}

// partStarts writes where parts begin: places, which has a word for each part and block, blocks, parts, rows, starts.
func partStarts() *ir.Func {
	return newKernel("part_starts", func(k *kernel) []ir.Reg { return k.load("places", "blocks", "parts", "rows", "starts") },
		func(k *kernel, s []ir.Reg) {
			at, x := k.Vreg("at", ir.I64), k.Vreg("x", ir.I64)
			k.Mov(x, s[3].V())
			k.when(ir.LT, k.item.V(), s[2].V(), func() {
				k.Op2(ir.Mul, at, k.item.V(), s[1].V())
				k.Load(x, ir.AtIndex(s[0], at, 4, 0), 4, false)
			})
			k.Store(ir.AtIndex(s[4], k.item, 8, 0), x.V(), 8)
			k.Clear(at, x)
		})
}
