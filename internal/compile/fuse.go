package compile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Fusion decides how much of a query one kernel does, within a budget of registers and of shared memory. The first try is whole pipelines. For one whose kernel would need too
// many, programs with one cut more are compiled, those with the fewest bytes between the parts first, until one fits.
type Fusion struct {
	// Fresh makes the query's program, whose pipelines change cuts as soon as they are there.
	Fresh  func(change func(*pipe.Program)) (*pipe.Program, error)
	Place  func() Place
	Budget phys.FuseBudget
	Options
	// Known is what was decided before for queries like this one.
	Known *Decided

	cuts   []cutAt
	origin []int // by the number of a pipeline of the last program: that of which it is a part
}

// cutAt is a cut of a pipeline of the program that has none.
type cutAt struct {
	pipeline int
	phys.Cut
}

// leastGain is how many registers a cut must save if the parts do not fit either: an assembler hands them out in eights.
const leastGain = 8

// Program is the query's program, cut where that is worth it.
func (f *Fusion) Program() (*pipe.Program, error) {
	prog, err := f.try(nil)
	if err != nil || !slices.ContainsFunc(prog.Pipelines, f.mayBeLarge) {
		return prog, err
	}
	key := f.key(prog.Query)
	known := false
	if f.cuts, known = f.Known.recall(key); !known {
		if err := f.relieve(f.demands(prog)); err != nil {
			return nil, err
		}
		f.Known.keep(key, f.cuts)
	}
	if len(f.cuts) == 0 {
		return prog, nil
	}
	return f.try(f.cuts)
}

// key tells queries apart for which something else could be decided.
func (f *Fusion) key(q *plan.Query) string {
	return plan.FormatWith(q, func(n plan.Node) string { return plan.FormatRows(n.Props().Rows) }) + fmt.Sprint(f.Budget, f.Options)
}

// Decided are the cuts of queries. To look at a program takes as long as tens of millions of its rows.
type Decided struct {
	mu   sync.Mutex
	cuts map[string][]cutAt
}

// mostDecided is how many queries are remembered.
const mostDecided = 1000

func (d *Decided) recall(key string) ([]cutAt, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	cuts, ok := d.cuts[key]
	return cuts, ok
}

func (d *Decided) keep(key string, cuts []cutAt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cuts == nil || len(d.cuts) == mostDecided {
		d.cuts = map[string][]cutAt{}
	}
	d.cuts[key] = cuts
}

// mayBeLarge reports a pipeline that is worth a look.
func (f *Fusion) mayBeLarge(p *pipe.Pipeline) bool {
	return f.Fuse.At(p) == phys.FuseAuto && (phys.Registers(phys.MostPressure(p)) > f.Budget.Allowed() || f.Refill.MayPark(p))
}

// relieve cuts the pipelines that need more than is allowed, as far as that helps.
func (f *Fusion) relieve(need []phys.Demand) error {
	for p := range need {
		for need[p].Cost() > f.Budget.Allowed() {
			least, err := f.cut(p, need[p])
			if err != nil {
				return err
			}
			if least == need[p] {
				break
			}
			need[p] = least
		}
	}
	return nil
}

// cut finds the best place for one cut more of a pipeline, and what the pipeline needs then: as much as before where there is none.
func (f *Fusion) cut(p int, need phys.Demand) (phys.Demand, error) {
	least, best := need, f.cuts
	all, err := f.places(p)
	if err != nil {
		return need, err
	}
	for _, c := range all {
		c.Whole, c.Allowed = need, f.Budget.Allowed()
		prog, err := f.try(append(slices.Clip(f.cuts), c))
		if err != nil {
			return need, err
		}
		now := f.demands(prog)[p]
		if now.Cost() <= f.Budget.Allowed() {
			f.cuts = append(f.cuts, c)
			return now, nil
		}
		if now.Cost() < least.Cost() && now.Cost() <= need.Cost()-leastGain {
			least, best = now, append(slices.Clip(f.cuts), c)
		}
	}
	f.cuts = best
	return least, nil
}

// places are those where a pipeline can still be cut, the cheapest first.
func (f *Fusion) places(p int) (out []cutAt, err error) {
	_, err = f.Fresh(func(prog *pipe.Program) {
		out = slices.DeleteFunc(f.all(prog, p), func(c cutAt) bool { return f.isCut(p, c.Op) })
	})
	slices.SortStableFunc(out, func(a, b cutAt) int { return int(a.Rows*int64(a.Width) - b.Rows*int64(b.Width)) })
	return out, err
}

// all are the places where a pipeline of a program without cuts can be cut: none where somebody wants another model.
func (f *Fusion) all(prog *pipe.Program, p int) (out []cutAt) {
	if p >= len(prog.Pipelines) || f.Fuse.At(prog.Pipelines[p]) != phys.FuseAuto {
		return nil
	}
	q := prog.Pipelines[p]
	for _, c := range phys.CutPlaces(q) {
		if width := q.Width(c.Op, prog.Query.Cols); width > 0 {
			out = append(out, cutAt{p, phys.Cut{CutPlace: c, Width: width}})
		}
	}
	return out
}

func (f *Fusion) isCut(p, op int) bool {
	return slices.ContainsFunc(f.cuts, func(c cutAt) bool { return c.pipeline == p && c.Op == op })
}

// try is the program with cuts.
func (f *Fusion) try(cuts []cutAt) (*pipe.Program, error) {
	return f.Fresh(func(prog *pipe.Program) {
		// What was decided for another query of the same words may not be possible here.
		cuts := slices.DeleteFunc(slices.Clone(cuts), func(c cutAt) bool {
			return !slices.ContainsFunc(f.all(prog, c.pipeline), func(x cutAt) bool { return x.Op == c.Op })
		})
		whole := slices.Clone(prog.Pipelines)
		number := map[*pipe.Pipeline]int{}
		for i, q := range whole {
			number[q] = i
		}
		prog.Unfuse(func(q *pipe.Pipeline, i int) bool {
			return slices.ContainsFunc(cuts, func(c cutAt) bool { return c.pipeline == number[q] && c.Op == i })
		})
		f.origin = f.origin[:0]
		of, part := 0, 0
		for _, q := range prog.Pipelines {
			f.origin = append(f.origin, of)
			if q == whole[of] { // the last part
				of, part = of+1, 0
				continue
			}
			q.Cut = nth(cuts, of, part)
			part++
		}
	})
}

// nth is one of the cuts of a pipeline, in their order there.
func nth(cuts []cutAt, pipeline, n int) phys.Cut {
	var mine []phys.Cut
	for _, c := range cuts {
		if c.pipeline == pipeline {
			mine = append(mine, c.Cut)
		}
	}
	slices.SortFunc(mine, func(a, b phys.Cut) int { return a.Op - b.Op })
	return mine[n]
}

// demands are those of the most demanding kernel of each pipeline, by the numbers of the program without cuts.
func (f *Fusion) demands(prog *pipe.Program) []phys.Demand {
	need := make([]phys.Demand, f.origin[len(f.origin)-1]+1)
	for l := range Foresee(prog, f.Place(), f.Options) {
		if l.Err != nil {
			continue
		}
		code := l.Fragment.Func
		d := phys.Demand{Registers: phys.Registers(code.Pressure()), Block: code.SharedBytes, Warp: l.Fragment.WarpBytes}
		if of := &need[f.origin[l.Pipeline.ID]]; d.Cost() > of.Cost() {
			*of = d
		}
	}
	return need
}
