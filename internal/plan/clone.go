package plan

import "slices"

// Renaming says which new column stands for each column of a cloned plan; 0 for
// columns that it does not rename.
type Renaming []ColID

// Get is the new name of id, or id itself.
func (r Renaming) Get(id ColID) ColID {
	if int(id) < len(r) && r[id] != 0 {
		return r[id]
	}
	return id
}

// Expr renames the columns of an expression; the plans of subqueries must not refer to
// renamed columns.
func (r Renaming) Expr(e Expr) Expr {
	return MapExpr(e, func(e Expr) Expr {
		if x, ok := e.(*Ref); ok {
			if id := r.Get(x.ID); id != x.ID {
				return &Ref{ID: id, T: x.T}
			}
		}
		return e
	})
}

// CloneNode copies a subtree and gives every column that it introduces a fresh ColID, so that the
// copy can stand in the same query. References to columns from outside stay. The
// copy shares no node and no slice that a rewrite would change with the original.
func CloneNode(cols *Columns, n Node) (Node, Renaming) {
	c := cloner{cols: cols, names: make(Renaming, cols.Len())}
	m := c.node(n)
	c.fixReducers(m)
	return m, c.names
}

// CopyNode copies a subtree without renaming: for a plan that is tried and thrown away, or a query that
// is optimized more than once.
func CopyNode(n Node) Node {
	c := cloner{}
	m := c.node(n)
	c.fixReducers(m)
	return m
}

// CopyQuery copies a query, so that optimizing the copy leaves the original as it is.
func CopyQuery(q *Query) *Query {
	cols := &Columns{cols: slices.Clone(q.Cols.cols)}
	c := cloner{}
	out := &Query{Cols: cols, Output: slices.Clone(q.Output), Names: slices.Clone(q.Names)}
	for _, s := range q.Shared {
		if s == nil {
			out.Shared = append(out.Shared, nil)
			continue
		}
		out.Shared = append(out.Shared, &SharedPlan{Name: s.Name, Plan: c.node(s.Plan), Cols: slices.Clone(s.Cols)})
	}
	out.Root = c.node(q.Root)
	for _, s := range out.Shared {
		if s != nil {
			c.fixReducers(s.Plan)
		}
	}
	c.fixReducers(out.Root)
	return out
}

type cloner struct {
	cols  *Columns // nil: keep all names
	names Renaming
	joins map[*Join]*Join // originals to copies, for reducers
}

func (c *cloner) fresh(id ColID) ColID {
	if c.cols == nil || id == 0 {
		return id
	}
	if c.names[id] == 0 {
		col := *c.cols.Get(id)
		c.names[id] = c.cols.New(col.Name, col.Type, col.NotNull)
	}
	return c.names[id]
}

func (c *cloner) freshAll(ids []ColID) []ColID {
	out := make([]ColID, len(ids))
	for i, id := range ids {
		out[i] = c.fresh(id)
	}
	return out
}

// old renames references to columns whose definitions were already copied.
func (c *cloner) old(id ColID) ColID { return c.names.Get(id) }

func (c *cloner) oldAll(ids []ColID) []ColID {
	out := make([]ColID, len(ids))
	for i, id := range ids {
		out[i] = c.old(id)
	}
	return out
}

func (c *cloner) expr(e Expr) Expr {
	if e == nil {
		return nil
	}
	return MapExpr(e, func(e Expr) Expr {
		switch x := e.(type) {
		case *Ref:
			if id := c.old(x.ID); id != x.ID {
				return &Ref{ID: id, T: x.T}
			}
		case *Subquery:
			y := *x
			y.Plan = c.node(x.Plan)
			y.Output = c.oldAll(x.Output)
			y.Needle = slices.Clone(x.Needle)
			return &y
		}
		return e
	})
}

func (c *cloner) exprs(es []Expr) []Expr {
	if es == nil {
		return nil
	}
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e)
	}
	return out
}

// node copies inputs first: what an operator refers to is then already renamed.
func (c *cloner) node(n Node) Node {
	switch x := n.(type) {
	case *Scan:
		y := *x
		y.Cols = c.freshAll(x.Cols)
		y.Ordinal = slices.Clone(x.Ordinal)
		y.Filter = c.exprs(x.Filter)
		y.Reduce = slices.Clone(x.Reduce)
		for i := range y.Reduce {
			y.Reduce[i].Col = c.old(y.Reduce[i].Col)
		}
		return &y
	case *Values:
		y := *x
		y.Cols = c.freshAll(x.Cols)
		y.Rows = make([][]Expr, len(x.Rows))
		for i, r := range x.Rows {
			y.Rows[i] = c.exprs(r)
		}
		return &y
	case *Series:
		y := *x
		y.Col = c.fresh(x.Col)
		return &y
	case *SharedScan:
		y := *x
		y.Cols = c.freshAll(x.Cols)
		y.Source = slices.Clone(x.Source)
		return &y
	case *Filter:
		y := *x
		y.Input = c.node(x.Input)
		y.Preds = c.exprs(x.Preds)
		return &y
	case *Project:
		y := *x
		y.Input = c.node(x.Input)
		y.Keep = c.oldAll(x.Keep)
		y.Exprs = c.exprs(x.Exprs)
		y.Cols = c.freshAll(x.Cols)
		return &y
	case *Join:
		y := *x
		y.Left = c.node(x.Left)
		y.Right = c.node(x.Right)
		y.LKeys, y.RKeys, y.On = c.exprs(x.LKeys), c.exprs(x.RKeys), c.exprs(x.On)
		y.NullSafe = slices.Clone(x.NullSafe)
		y.MarkCol = c.fresh(x.MarkCol)
		if c.joins == nil {
			c.joins = map[*Join]*Join{}
		}
		c.joins[x] = &y
		return &y
	case *Group:
		y := *x
		y.Input = c.node(x.Input)
		y.Keys = c.exprs(x.Keys)
		y.Aggs = slices.Clone(x.Aggs)
		for i := range y.Aggs {
			y.Aggs[i].MapExprs(c.expr)
			y.Aggs[i].Col = c.fresh(y.Aggs[i].Col)
		}
		y.KeyCols = c.freshAll(x.KeyCols)
		return &y
	case *Window:
		y := *x
		y.Input = c.node(x.Input)
		y.Rename(c.names)
		for i := range y.Funcs {
			y.Funcs[i].Col = c.fresh(y.Funcs[i].Col)
		}
		return &y
	case *SetOp:
		y := *x
		y.Args = make([]Node, len(x.Args))
		y.InCols = make([][]ColID, len(x.InCols))
		for i := range x.Args {
			y.Args[i] = c.node(x.Args[i])
			y.InCols[i] = c.oldAll(x.InCols[i])
		}
		y.Cols = c.freshAll(x.Cols)
		return &y
	case *Recursive:
		y := *x
		y.Init, y.Step = c.node(x.Init), c.node(x.Step)
		for i := range x.InCols {
			y.InCols[i] = c.oldAll(x.InCols[i])
		}
		y.Cols = c.freshAll(x.Cols)
		return &y
	case *WorkScan:
		y := *x
		y.Cols = c.freshAll(x.Cols)
		y.Ordinal = slices.Clone(x.Ordinal)
		return &y
	case *Repeat:
		y := *x
		y.Input = c.node(x.Input)
		y.Count = c.expr(x.Count)
		y.Col = c.fresh(x.Col)
		return &y
	case *Sort:
		y := *x
		y.Input = c.node(x.Input)
		y.Keys = slices.Clone(x.Keys)
		for i := range y.Keys {
			y.Keys[i].Col = c.old(y.Keys[i].Col)
		}
		return &y
	}
	panic("plan: clone of an unknown node")
}

// fixReducers points the reducers of copied scans to copied joins; a join outside of the
// copied tree keeps reducing the copy.
func (c *cloner) fixReducers(n Node) {
	WalkNode(n, func(n Node) bool {
		if s, ok := n.(*Scan); ok {
			for i, r := range s.Reduce {
				if j := c.joins[r.Join]; j != nil {
					s.Reduce[i].Join = j
				}
			}
		}
		return true
	})
}
