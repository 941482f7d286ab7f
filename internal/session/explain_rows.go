package session

import (
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// actualRows finds for each operator of the plan how many rows it gave, from the counters of
// the pipelines: an operator is a part of one or, below UNION ALL and outer joins, of
// several.
func actualRows(prog *pipe.Program, stats *exec.Stats, result int64) map[plan.Node]int64 {
	out := map[plan.Node]int64{}
	for i, p := range prog.Pipelines {
		rows := stats.Pipelines[i].OpRows
		last := map[plan.Node]int64{} // an operator may have several parts in a row
		add := func(n plan.Node, rows int64) {
			if n != nil {
				last[n] = rows
			}
		}
		switch s := p.Source.(type) {
		case *pipe.Table:
			add(s.Scan, rows[-1])
		case *pipe.Buffer:
			// Groups, sorted rows, shared rows; and the tuples of a join's build side
			// that come again after probing, which are rows of the join.
			add(s.Node, rows[-1])
		case *pipe.Constants:
			add(s.Node, rows[-1])
		case *pipe.Series:
			add(s.Node, rows[-1])
		}
		_, discards := p.Sink.(*pipe.Discard)
		for k, op := range p.Ops {
			switch op := op.(type) {
			case *pipe.Filter:
				add(op.Node, rows[k])
			case *pipe.Map:
				switch op.Node.(type) { // a sink may have a map before it that is no operator
				case *plan.Project, *plan.Values:
					add(op.Node, rows[k])
				}
			case *pipe.Rename:
				add(op.Node, rows[k])
			case *pipe.Repeat:
				add(op.Node, rows[k])
			case *pipe.Probe:
				if !discards || k < len(p.Ops)-1 { // else it only sets flags
					add(op.Join, rows[k])
				}
			}
		}
		for n, rows := range last {
			out[n] += rows
		}
	}
	if s, ok := prog.Result.Node.(*plan.Sort); ok { // its rows are not scanned again
		out[s] = result
	}
	return out
}

// rowsOf is the number of rows that an operator gave. A projection that computes nothing
// has no counter of its own.
func (x *explanation) rowsOf(n plan.Node) (int64, bool) {
	if x.stats == nil {
		return 0, false
	}
	if rows, ok := x.actual[n]; ok {
		return rows, true
	}
	if p, ok := n.(*plan.Project); ok {
		return x.rowsOf(p.Input)
	}
	return 0, false
}
