package phys

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Refill is what the lanes of a GPU's warp do whose rows were dropped while others go on.
type Refill uint8

const (
	RefillAuto  Refill = iota // as it pays
	RefillOff                 // they wait
	RefillFlush               // rows wait behind each operator that drops some, with all that they have: the form of the paper on lane refill
	RefillList                // rows that have passed the front of a scan wait in a list until there is one for each lane
)

var refillNames = []string{"auto", "off", "flush", "list"}

func (x Refill) String() string { return refillNames[x] }

// ParseRefill finds a way by its name.
func ParseRefill(name string) (Refill, error) { return parseChoice[Refill](name, refillNames) }

const (
	// fewSurvivors is the share of rows behind a front up to which a list pays: if more pass, lanes have nearly as many each.
	fewSurvivors = 0.25
	// muchWork is how much must follow, in operations of expressions: to put rows into a list and to take them from it costs about 20 instructions.
	muchWork = 24
	// probeWork is what a probe counts in that, divisionWork a division: GPUs have no instruction for it.
	probeWork    = 4
	divisionWork = 8
)

// ChooseRefill decides what becomes of lanes behind the front of a scan.
func ChooseRefill(f Front, rows int64, work int, wish Refill) Refill {
	switch {
	case f.Rows == 0 || rows >= 1<<32: // the list has numbers of 32 bits
		return RefillOff
	case wish != RefillAuto:
		return wish
	case f.Share <= fewSurvivors && work >= muchWork:
		return RefillList
	}
	return RefillOff
}

// RowWork is about how much a pipeline does for a row that has passed its scan.
func RowWork(p *pipe.Pipeline) (n int) {
	add := func(list ...plan.Expr) {
		for _, x := range list {
			if x == nil {
				continue
			}
			plan.WalkExpr(x, func(x plan.Expr) bool {
				if c, ok := x.(*plan.Call); ok {
					if n++; c.Op == plan.Div || c.Op == plan.Mod {
						n += divisionWork - 1
					}
				}
				return true
			})
		}
	}
	for _, op := range p.Ops {
		switch op := op.(type) {
		case *pipe.Filter:
			add(op.Preds...)
		case *pipe.Map:
			add(op.Exprs...)
		case *pipe.Probe:
			n += probeWork
			add(op.Keys...)
			add(op.On...)
		}
	}
	if s, ok := p.Sink.(*pipe.Aggregate); ok {
		add(s.Group.Keys...)
		for _, a := range s.Group.Aggs {
			add(a.Arg, a.Filter)
		}
	}
	return n
}
