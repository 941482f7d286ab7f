package pipe

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Cut makes the pipelines of a query.
func Cut(q *plan.Query) (*Program, error) {
	c := &cutter{q: q, builds: map[*plan.Join]*Build{}, work: map[int]*Rounds{}, shared: make([]*Collect, len(q.Shared))}
	res := &Collect{Cols: q.Output, Limit: -1, Node: q.Root}
	root := q.Root
	if s, ok := root.(*plan.Sort); ok {
		res.Keys, res.Limit, res.Offset, res.Node = s.Keys, s.Limit, s.Offset, s
		root = s.Input
	}
	if err := c.collect(root, res); err != nil {
		return nil, err
	}
	p := &Program{Query: q, Result: res}
	c.order(p)
	return p, nil
}

type cutter struct {
	q      *plan.Query
	all    []*Pipeline
	sinks  int
	builds map[*plan.Join]*Build
	shared []*Collect
	gates  []*Build // behind which pipelines are cut now
	work   map[int]*Rounds
	err    error
}

// collect materializes a subplan; sort keys that are not among the columns are added.
func (c *cutter) collect(n plan.Node, s *Collect) error {
	cols := s.Cols[:len(s.Cols):len(s.Cols)]
	have := plan.MakeColSet(cols...)
	for _, k := range s.Keys {
		if !have.Has(k.Col) {
			have.Add(k.Col)
			cols = append(cols, k.Col)
		}
	}
	s.Cols = cols
	ps, err := c.open(n, have)
	if err != nil {
		return err
	}
	if len(s.Keys) == 0 && s.Limit >= 0 {
		enough(n, ps, s.Limit+s.Offset)
	}
	s.ID = c.close(ps, s)
	s.makers = ps
	return nil
}

// close ends pipelines in a sink and numbers it.
func (c *cutter) close(ps []*Pipeline, s Sink) int {
	for _, p := range ps {
		p.Sink = s
		for _, b := range c.gates {
			p.Gates = append(p.Gates, b)
			p.needs = append(p.needs[:len(p.needs):len(p.needs)], b.makers...)
		}
		c.all = append(c.all, p)
	}
	c.sinks++
	return c.sinks
}

func (c *cutter) add(ps []*Pipeline, op Op) []*Pipeline {
	for _, p := range ps {
		p.Ops = append(p.Ops, op)
	}
	return ps
}

func refs(need plan.ColSet, lists ...[]plan.Expr) plan.ColSet {
	out := plan.MakeColSet()
	out.Union(need)
	for _, l := range lists {
		for _, e := range l {
			plan.AddRefs(&out, e)
		}
	}
	return out
}

// open returns pipelines without sinks whose last operator yields n's rows, with at
// least the columns in need.
func (c *cutter) open(n plan.Node, need plan.ColSet) ([]*Pipeline, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return []*Pipeline{{Source: c.table(n)}}, nil

	case *plan.Values:
		return c.values(n), nil

	case *plan.Series:
		return []*Pipeline{{Source: &Series{n}}}, nil

	case *plan.SharedScan:
		s, err := c.sharedPlan(n.Index)
		if err != nil {
			return nil, err
		}
		return []*Pipeline{{Source: &Buffer{Of: s, From: n.Source, To: n.Cols, Node: n}, needs: s.makers}}, nil

	case *plan.Filter:
		ps, err := c.open(n.Input, refs(need, n.Preds))
		return c.add(ps, &Filter{n.Preds, n}), err

	case *plan.Project:
		m := &Map{Node: n}
		for i, id := range n.Cols {
			if need.Has(id) {
				m.Exprs, m.Cols = append(m.Exprs, n.Exprs[i]), append(m.Cols, id)
			}
		}
		ps, err := c.open(n.Input, refs(need, m.Exprs))
		if len(m.Cols) == 0 {
			return ps, err
		}
		return c.add(ps, m), err

	case *plan.Recursive:
		return c.recursive(n)

	case *plan.WorkScan:
		s := c.work[n.Number]
		b := &Buffer{Of: s, Work: true, To: n.Cols, Node: n}
		for _, k := range n.Ordinal {
			b.From = append(b.From, s.Cols[k])
		}
		return []*Pipeline{{Source: b, Loop: s, needs: s.makers}}, nil

	case *plan.Repeat:
		ps, err := c.open(n.Input, refs(need, []plan.Expr{n.Count}))
		return c.add(ps, &Repeat{Count: n.Count, Col: n.Col, Node: n}), err

	case *plan.Join:
		return c.join(n, need)

	case *plan.Group:
		if n.Folded() {
			return c.fold(n)
		}
		below := plan.MakeColSet()
		for _, k := range n.Keys {
			plan.AddRefs(&below, k)
		}
		for _, a := range n.Aggs {
			plan.AddRefs(&below, a.Arg)
			plan.AddRefs(&below, a.Filter)
		}
		ps, err := c.open(n.Input, below)
		if err != nil {
			return nil, err
		}
		s := &Aggregate{Group: n, makers: ps}
		s.ID = c.close(ps, s)
		return []*Pipeline{{Source: &Buffer{Of: s, Node: n}, needs: ps}}, nil

	case *plan.Sort:
		s := &Collect{Keys: n.Keys, Limit: n.Limit, Offset: n.Offset, Node: n}
		prod := plan.Produced(n.Input)
		for id := range need.All {
			if prod.Has(id) {
				s.Cols = append(s.Cols, id)
			}
		}
		if err := c.collect(n.Input, s); err != nil {
			return nil, err
		}
		return []*Pipeline{{Source: &Buffer{Of: s, Node: n}, needs: s.makers}}, nil

	case *plan.Window:
		s := &Collect{Window: n, Limit: -1, Node: n}
		prod := plan.Produced(n.Input)
		below := n.Reads()
		below.Union(need)
		for id := range below.All {
			if prod.Has(id) {
				s.Cols = append(s.Cols, id)
			}
		}
		if err := c.collect(n.Input, s); err != nil {
			return nil, err
		}
		return []*Pipeline{{Source: &Buffer{Of: s, Node: n}, needs: s.makers}}, nil

	case *plan.SetOp:
		var out []*Pipeline
		for i, in := range n.Args {
			below := plan.MakeColSet()
			ren := &Rename{Node: n}
			for k, id := range n.Cols {
				if need.Has(id) {
					below.Add(n.InCols[i][k])
					ren.From, ren.To = append(ren.From, n.InCols[i][k]), append(ren.To, id)
				}
			}
			ps, err := c.open(in, below)
			if err != nil {
				return nil, err
			}
			out = append(out, c.add(ps, ren)...)
		}
		return out, nil
	}
	return nil, diag.Internalf("pipe", "operator %T", n)
}

// fold collects what the aggregates of a group read.
func (c *cutter) fold(n *plan.Group) ([]*Pipeline, error) {
	refs := plan.NodeRefs(n)
	s := &Fold{Group: n, Collect: Collect{Cols: refs.Slice(), Limit: -1, Node: n}}
	ps, err := c.open(n.Input, refs)
	if err != nil {
		return nil, err
	}
	s.ID = c.close(ps, s)
	s.makers = ps
	return []*Pipeline{{Source: &Buffer{Of: s, Node: n}, needs: ps}}, nil
}

func (c *cutter) table(n *plan.Scan) *Table { return &Table{Scan: n, Filter: n.Filter} }

// values: literal rows are a constant buffer; a row with something to compute is a
// pipeline of its own.
func (c *cutter) values(n *plan.Values) []*Pipeline {
	constant := true
	for _, row := range n.Rows {
		for _, e := range row {
			if _, ok := e.(*plan.Const); !ok {
				constant = false
			}
		}
	}
	if constant {
		return []*Pipeline{{Source: &Constants{Cols: n.Cols, Rows: n.Rows, Node: n}}}
	}
	var out []*Pipeline
	for _, row := range n.Rows {
		out = append(out, &Pipeline{
			Source: &Constants{Rows: make([][]plan.Expr, 1)},
			Ops:    []Op{&Map{Exprs: row, Cols: n.Cols, Node: n}},
		})
	}
	return out
}

func (c *cutter) sharedPlan(i int) (*Collect, error) {
	if c.shared[i] == nil {
		sp := c.q.Shared[i]
		s := &Collect{Cols: sp.Cols, Limit: -1, Node: sp.Plan}
		gates := c.gates
		c.gates = nil // others may read it
		err := c.collect(sp.Plan, s)
		c.gates = gates
		if err != nil {
			return nil, err
		}
		c.shared[i] = s
	}
	return c.shared[i], nil
}
