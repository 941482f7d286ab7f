package exec

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// processor runs generated code. Only its implementations know which device there is: cpu.go and gpu.go. Everybody else
// asks what it is able to do.
type processor interface {
	// request adds to a request what code for the processor must obey.
	request(req *emit.Request)
	// translate makes code of a function.
	translate(f *ir.Func) (device.Kernel, error)
	// morselRows is how many rows of a job code takes at a time; 0: workers find out by themselves.
	morselRows(j *job) int
	// call runs the code that a worker's context is made for on rows lo…hi of its range.
	call(w *worker, lo, hi int) error
	// tally counts the instructions that ran, where that was asked for.
	tally() device.Tally
	// close gives the code back.
	close()
}

// abilities are what a processor can do, as far as it decides how pipelines run.
type abilities struct {
	// many: several workers call code at the same time.
	many bool
	// yields: code comes back in the middle of its rows to ask for room or for Go's help, so that sinks can give it little
	// room at a time, and think about it.
	yields bool
	// inPlace: columns that only pass through stay in the table, and results are read from there.
	inPlace bool
	// timed: running a part of a pipeline once more tells what it costs.
	timed bool
	// sharedGroups: all that run code find groups in one table.
	sharedGroups bool
}

// abilitiesOf are those of processors that are compiled for a target.
func abilitiesOf(t ir.Target) abilities {
	if t == ir.GPU {
		return abilities{sharedGroups: true}
	}
	return abilities{many: true, yields: true, inPlace: true, timed: true}
}

// target is what pipelines are compiled for.
func (o *Options) target() ir.Target {
	if o.Device == "simt" {
		return ir.GPU
	}
	return ir.CPU
}

// newProcessor is what runs the code of a target.
func (r *run) newProcessor(t ir.Target) processor {
	if t == ir.GPU {
		return newGPU(r)
	}
	return &cpu{o: &r.Options}
}

// on is what runs the code of a function: lookup tables may be made by another processor than pipelines are run by.
func (r *run) on(f *ir.Func) processor {
	t := f.Target
	if r.processors[t] == nil {
		r.processors[t] = r.newProcessor(t)
	}
	return r.processors[t]
}

// requestFor adds to a request what code for a target must obey.
func (o *Options) requestFor(t ir.Target, req *emit.Request) {
	level := o.SIMD.Best()
	req.Target, req.SIMD, req.Gather = t, level != device.SIMDOff, level == device.SIMDAVX512
	if t == ir.GPU {
		if req.Device = o.Device; o.target() != t { // EXPLAIN: it is not the query's
			req.Device = t.String()
		}
		if device.HasCPU() && !o.NoCPU {
			req.LutTarget = ir.CPU
		}
	}
}
