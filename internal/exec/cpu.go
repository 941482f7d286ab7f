package exec

import (
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// cpu compiles functions to machine code and runs it on the threads that call it.
type cpu struct {
	o     *Options
	codes []device.Kernel
}

// Place is where pipelines run with these options: the threads of the CPU, which read tables as they are stored.
func (o *Options) Place() compile.Place {
	level := o.SIMD.Best()
	return compile.Place{Target: ir.CPU, Can: phys.Capabilities{Masks: level != device.SIMDOff, Gather: level == device.SIMDAVX512,
		Late: true, Direct: true, Top: true, TextMaps: true, Unite: true}}
}

// translate makes code of a function.
func (c *cpu) translate(f *ir.Func) (device.Kernel, error) {
	k, err := device.CompileCPU(f, device.CPU{SIMD: c.o.SIMD, Spill: c.o.Off.Registers, Plain: c.o.Off.Fusing, Tally: c.o.Tally})
	if err == nil {
		c.codes = append(c.codes, k)
	}
	return k, err
}

// run calls the code that a worker's context is made for on rows lo…hi of its range.
func (w *worker) run(lo, hi int) error {
	mem.Store64(w.ctx+layout.CtxLo, uint64(lo))
	mem.Store64(w.ctx+layout.CtxHi, uint64(hi))
	for {
		status := w.v.code.Call(mem.Pointer(w.ctx))
		switch {
		case status == ir.StatusDone:
			return nil
		case status == layout.YieldGrow || status == layout.YieldTick:
			if status == layout.YieldGrow {
				if err := w.j.sink.grow(w); err != nil {
					return err
				}
			}
			if w.r.team.Stopped() {
				return nil
			}
			if err := w.r.team.Canceled(); err != nil {
				return err
			}
		case status == layout.YieldText || status == layout.YieldLower || status == layout.YieldUpper:
			if err := w.makeText(status); err != nil {
				return err
			}
		default:
			return w.v.frag.Errors[status-1]
		}
	}
}

// tally counts the instructions that ran, where that was asked for.
func (c *cpu) tally() (sum device.Tally) {
	for _, k := range c.codes {
		sum.Add(device.TallyOf(k), 1)
	}
	return sum
}

// close gives the code back.
func (c *cpu) close() {
	for _, k := range c.codes {
		k.Free()
	}
}
