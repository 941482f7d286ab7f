package phys

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Switches of a query hold for all of it. Some a plan can have at an operator, for this alone: what a join says of expand goes for its rows, what a group
// says for its groups, what a scan says for the pipeline that begins with it, and all parts that this is cut into.

// switchesAt are those, and the operators that have them.
var switchesAt = []struct {
	name, op string
	check    func(value string) error
}{
	{"expand", "join", checked(ParseExpand)},
	{"fuse", "scan", checked(ParseFuse)},
	{"groups", "group", checked(ParseHome)},
	{"partition", "group", checked(ParsePartition)},
	{"prefilter", "scan", checked(ParsePrefilter)},
	{"refill", "scan", checked(ParseRefill)},
	{"resolve", "scan", checked(ParseResolve)},
	{"search", "scan", checked(ParseSearch)},
	{"share", "scan", checked(ParseShare)},
}

func checked[T any](parse func(string) (T, error)) func(string) error {
	return func(value string) error {
		_, err := parse(value)
		return err
	}
}

// CheckSwitch is what is wrong with a switch at such an operator; nil: nothing is.
func CheckSwitch(op, name, value string) error {
	var all []string
	for _, s := range switchesAt {
		switch {
		case s.name == name && s.op == op:
			return s.check(value)
		case s.name == name:
			return fmt.Errorf("the operator %s has no switch %s, but the operator %s does", op, name, s.op)
		}
		all = append(all, s.name)
	}
	return fmt.Errorf("no operator has a switch %q, but %s; others are settings, of the whole query", name, strings.Join(all, ", "))
}

// switchAt is the value of a switch at an operator, or what the query wants.
func switchAt[T any](n plan.Node, name string, parse func(string) (T, error), query T) T {
	if value, ok := n.Props().Switches[name]; ok {
		query, _ = parse(value) // which was checked
	}
	return query
}

// switchOf is the value of a switch at the scan that a pipeline begins with, or what the query wants.
func switchOf[T any](p *pipe.Pipeline, name string, parse func(string) (T, error), query T) T {
	if p == nil {
		return query
	}
	if s := p.Begins(); s != nil {
		return switchAt(s, name, parse, query)
	}
	return query
}

// At is how lanes share the matches of a join's rows.
func (x Expand) At(j *plan.Join) Expand { return switchAt(j, "expand", ParseExpand, x) }

// At is what becomes of idle lanes in a pipeline.
func (r Refill) At(p *pipe.Pipeline) Refill {
	return switchOf(p, "refill", ParseRefill, r)
}

// At is how much of a pipeline one kernel does.
func (f Fuse) At(p *pipe.Pipeline) Fuse { return switchOf(p, "fuse", ParseFuse, f) }

// At is how the rows of a pipeline come together.
func (r Resolve) At(p *pipe.Pipeline) Resolve { return switchOf(p, "resolve", ParseResolve, r) }

// At is where the groups live that a pipeline makes.
func (h Home) At(p *pipe.Pipeline) Home {
	if p == nil {
		return h
	}
	if s, ok := p.Sink.(*pipe.Aggregate); ok {
		return switchAt(s.Group, "groups", ParseHome, h)
	}
	return h
}

// At is whether a CPU and a GPU share the rows of a scan.
func (x Share) At(s *plan.Scan) Share { return switchAt(s, "share", ParseShare, x) }

// At is whether the CPU tests the filters of a scan.
func (x Prefilter) At(s *plan.Scan) Prefilter {
	return switchAt(s, "prefilter", ParsePrefilter, x)
}

// At is how the texts of a scan are searched.
func (x Search) At(s *plan.Scan) Search { return switchAt(s, "search", ParseSearch, x) }
