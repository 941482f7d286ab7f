package kernels

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Sequence is loops over items, one behind the other, in one launch: each begins when all items of the one before it are done. A warp takes an item at a time.
type Sequence struct {
	Name   string
	Params int // its own
	// Each does something with an item, as all lanes of a warp: lane is their number. It opens registers of its own and closes them.
	Each []func(b *ir.Builder, param func(name string, i int) ir.Reg, item, lane ir.Reg)
}

// Parameters of the kernel, behind those of the steps.
const (
	sequenceSize = iota + 4
	sequenceOwn
)

// Kernel is the function.
func (q *Sequence) Kernel() *ir.Func {
	w := begin(q.Name, sequenceOwn-1+q.Params)
	w.F.SharedBytes = stepsShared
	tid := w.special("tid", ir.ThreadID)
	var bodies []func(ir.Reg, arguments)
	for _, each := range q.Each {
		bodies = append(bodies, func(tile ir.Reg, of arguments) {
			n, size := of.get(0), w.wordParam("size", sequenceSize)
			i, end, lane := w.word("i"), w.word("end"), w.long("lane")
			w.Op1(ir.Uniform, n, n.V())
			w.Special(lane, ir.LaneID)
			w.Op2(ir.Shr, i, tid.V(), ir.K(5))
			w.Op2(ir.Shfl, i, i.V(), ir.K(0)) // as anybody can see, all lanes have the same
			w.Op2(ir.Mul, end, tile.V(), size.V())
			w.Op2(ir.Add, i, i.V(), end.V())
			w.Op2(ir.Add, end, end.V(), size.V())
			w.Sel(end, ir.ULT, end.V(), n.V(), end.V(), n.V())
			w.while(ir.ULT, i.V(), end.V(), func() {
				item := w.long("item")
				w.Op1(ir.WidenU, item, i.V())
				each(w.Builder, w.own(sequenceOwn), item, lane)
				w.Op2(ir.Add, i, i.V(), ir.K(warps))
			})
		})
	}
	w.steps(tid, 0, bodies)
	return w.end()
}

// Run queues a sequence's kernel, over so many items in each of its loops.
func (l *Library) Run(s device.Stream, upload Upload, f device.Function, items []int, own ...uint64) error {
	var steps Steps
	most := 0
	for _, n := range items {
		if err := check("run", n); err != nil {
			return err
		}
		most = max(most, n)
	}
	_, size := l.share(most, warps)
	for i, n := range items {
		if n > 0 {
			steps = append(steps, Step{Kind: i, Tiles: (n + size - 1) / size, Args: [stepArgs]uint32{uint32(n)}})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return l.launchSteps(s, upload, f, steps, 0, 0, func(_, _ uint64) []uint64 { return append([]uint64{uint64(size)}, own...) })
}
