package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// recursive cuts WITH RECURSIVE: pipelines that fill the sink once, and those of the loop, which read what the last round
// has brought, or depend on such, and end in the same sink.
func (c *cutter) recursive(n *plan.Recursive) ([]*Pipeline, error) {
	s := &Rounds{Distinct: n.Distinct, Wanted: -1, Collect: Collect{Cols: n.Cols, Limit: -1, Node: n}}
	gates := c.gates
	c.gates = nil // every round comes through
	defer func() { c.gates = gates }()
	into := func(in plan.Node, cols []plan.ColID) ([]*Pipeline, error) {
		ps, err := c.open(in, plan.MakeColSet(cols...))
		if err != nil {
			return nil, err
		}
		ps = c.add(ps, &Rename{From: cols, To: n.Cols})
		s.ID = c.close(ps, s)
		return ps, nil
	}
	first, err := into(n.Init, n.InCols[0])
	if err != nil {
		return nil, err
	}
	s.makers = first
	outer, before := c.work[n.Number], len(c.all)
	c.work[n.Number] = s
	step, err := into(n.Step, n.InCols[1])
	c.work[n.Number] = outer
	if err != nil {
		return nil, err
	}
	for _, p := range step {
		p.Loop = s
	}
	for _, p := range c.all[before:] {
		if p.Loop == nil && slices.ContainsFunc(p.needs, func(d *Pipeline) bool { return d.Loop == s }) {
			p.Loop = s
		}
		if p.Loop == s {
			s.body = append(s.body, p)
		}
	}
	s.makers = slices.Concat(first, step)
	return []*Pipeline{{Source: &Buffer{Of: s, Node: n}, needs: s.makers}}, nil
}

// enough lets a recursion end when a limit has its rows: n is what the limit takes them from. Others that read the recursion
// would get less than they want, but there are none: it would be a shared plan then.
func enough(n plan.Node, ps []*Pipeline, rows int64) {
	for {
		p, ok := n.(*plan.Project)
		if !ok {
			break
		}
		n = p.Input
	}
	if _, ok := n.(*plan.Recursive); ok && len(ps) == 1 {
		ps[0].Source.(*Buffer).Of.(*Rounds).Wanted = rows
	}
}
