package compile

import (
	"iter"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Listing is the function of a pipeline, or of one of its stages, as it will probably be compiled.
type Listing struct {
	Pipeline *pipe.Pipeline
	Fragment *emit.Fragment
	Counting *emit.Fragment // what counts its rows before; nil: nothing does
	Bounded  *emit.Fragment // what takes the rows that a sample bounds; nil: nothing does
	How      phys.Decision
	Filters  []scanned.Filter
	Err      error // why there is none for the place
}

// Explain compiles every pipeline of a program without running any: statistics stand for the facts.
func Explain(prog *pipe.Program, place Place, opts Options) []Listing {
	var out []Listing
	for l := range Foresee(prog, place, opts) {
		if l.Err == nil {
			l.Err = ir.Verify(l.Fragment.Func)
		}
		out = append(out, l)
	}
	if d := phys.ChooseDirect(prog); d.Scan != nil && place.Can.Direct && !opts.Off.DirectScan && len(out) == 1 {
		out[0].How.Direct = d
	}
	return out
}

// Foresee is the same for one who begins with the first before the last is there. Functions are not verified.
func Foresee(prog *pipe.Program, place Place, opts Options) iter.Seq[Listing] {
	return func(yield func(Listing) bool) {
		w := New(prog, place, opts)
		s := newStatistics(w)
		for _, p := range prog.Pipelines {
			parts := p.Stages // between which Go computes something
			if len(parts) == 0 {
				parts = []*pipe.Pipeline{p}
			}
			for _, part := range parts {
				if !yield(w.explain(part, s)) {
					return
				}
			}
		}
	}
}

func (w *Walk) explain(p *pipe.Pipeline, s *statistics) Listing {
	step, err := w.Step(p, s)
	if err != nil {
		return Listing{Pipeline: p, Err: err}
	}
	f, err := step.Emit()
	if err != nil {
		if w.Target != ir.CPU { // what comes after it needs to know its layout all the same
			step.Target = ir.CPU
			if _, again := step.Emit(); again == nil {
				s.ran(p)
			}
		}
		return Listing{Pipeline: p, Err: err}
	}
	s.ran(p)
	l := Listing{Pipeline: p, Fragment: f, How: step.Decision(f), Filters: step.Filters}
	l.Counting, l.Err = step.Counting()
	if l.Err == nil && step.Sample.Rows > 0 {
		l.Bounded, l.Err = step.Bounded(step.Sample.Likely).Emit()
	}
	return l
}
