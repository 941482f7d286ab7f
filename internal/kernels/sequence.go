package kernels

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Sequence is loops over items, one behind the other, in one launch: each begins when all items of the one before it are done.
type Sequence struct {
	Name   string
	Params int // its own
	// Each does something with an item. It opens registers of its own and closes them.
	Each []func(b *ir.Builder, param func(name string, i int) ir.Reg, item ir.Reg)
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
			arg := of.all()
			size := w.wordParam("size", sequenceSize)
			w.items(tid, tile, size, arg[0], func(i ir.Reg) {
				item := w.long("item")
				w.Op1(ir.WidenU, item, i.V())
				each(w.Builder, w.own(sequenceOwn), item)
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
	size := l.tileSize(most)
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
