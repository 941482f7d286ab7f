package phys

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Switches of a query hold for all of it. Some a plan can have at an operator, for this alone: what a join says of expand goes for its rows, what a scan
// says for the pipeline that begins with it.

// switchesAt are those, and the operators that have them.
var switchesAt = []struct {
	name, op string
	check    func(value string) error
}{
	{"expand", "join", checked(ParseExpand)},
	{"prefilter", "scan", checked(ParsePrefilter)},
	{"refill", "scan", checked(ParseRefill)},
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

// At is how lanes share the matches of a join's rows.
func (x Expand) At(j *plan.Join) Expand { return switchAt(j, "expand", ParseExpand, x) }

// At is what becomes of idle lanes in a pipeline.
func (r Refill) At(p *pipe.Pipeline) Refill {
	if p == nil {
		return r
	}
	if t, ok := p.Source.(*pipe.Table); ok {
		return switchAt(t.Scan, "refill", ParseRefill, r)
	}
	return r
}

// At is whether the CPU tests the filters of a scan.
func (x Prefilter) At(s *plan.Scan) Prefilter {
	return switchAt(s, "prefilter", ParsePrefilter, x)
}
