package bind

import "github.com/kelpiedb/kelpie/internal/sql/ast"

// countUses counts the references to a table name in a query and its subqueries. A name
// that an inner WITH hides is counted too: the plan is then shared without need, which
// is slower but not wrong.
func countUses(q *ast.Query, name string) int {
	c := useCounter{name: name}
	c.query(q)
	return c.n
}

type useCounter struct {
	name   string
	n      int
	column func(*ast.ColumnRef) // called with each column; nil: nobody asks
}

func (c *useCounter) query(q *ast.Query) {
	if q == nil {
		return
	}
	if q.With != nil {
		for i := range q.With.CTEs {
			c.query(q.With.CTEs[i].Query)
		}
	}
	c.body(q.Body)
	c.order(q.OrderBy)
	c.expr(q.Limit)
	c.expr(q.Offset)
}

func (c *useCounter) body(b ast.Body) {
	switch b := b.(type) {
	case *ast.Query:
		c.query(b)
	case *ast.SetOp:
		c.body(b.L)
		c.body(b.R)
	case *ast.Values:
		for _, r := range b.Rows {
			c.exprs(r)
		}
	case *ast.Select:
		c.exprs(b.DistinctOn)
		c.items(b.Items)
		for _, t := range b.From {
			c.table(t)
		}
		c.expr(b.Where)
		c.groups(b.GroupBy)
		c.expr(b.Having)
		c.expr(b.Qualify)
		for _, w := range b.Windows {
			c.window(w)
		}
	case *ast.Pivot:
		c.table(b.Source)
		for _, on := range b.On {
			c.expr(on.X)
			c.items(on.Values)
		}
		c.items(b.Using)
		c.exprs(b.GroupBy)
	case *ast.Unpivot:
		c.table(b.Source)
		for _, on := range b.On {
			c.exprs(on.Exprs)
		}
	case *ast.Summarize:
		c.query(b.Query)
	case *ast.Describe:
		c.query(b.Query)
	}
}

func (c *useCounter) table(t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.TableRef:
		if len(t.Name) == 1 && t.Name[0].Name == c.name {
			c.n++
		}
	case *ast.SubqueryTable:
		c.query(t.Query)
	case *ast.SampleTable:
		c.table(t.Table)
	case *ast.FuncTable:
		c.expr(t.Call)
	case *ast.Join:
		c.table(t.L)
		c.table(t.R)
		c.expr(t.On)
	}
}

func (c *useCounter) items(items []ast.SelectItem) {
	for _, it := range items {
		c.expr(it.X)
	}
}

func (c *useCounter) groups(items []ast.GroupItem) {
	for _, g := range items {
		c.exprs(g.Exprs)
		c.groups(g.Sets)
	}
}

func (c *useCounter) order(items []ast.OrderItem) {
	for _, o := range items {
		c.expr(o.X)
	}
}

func (c *useCounter) window(w *ast.Window) {
	c.exprs(w.PartitionBy)
	c.order(w.OrderBy)
	if w.Frame != nil {
		c.expr(w.Frame.Start.Offset)
		c.expr(w.Frame.End.Offset)
	}
}

func (c *useCounter) exprs(es []ast.Expr) {
	for _, e := range es {
		c.expr(e)
	}
}

func (c *useCounter) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ColumnRef:
		if c.column != nil {
			c.column(e)
		}
	case *ast.Star:
		c.expr(e.Of)
		c.items(e.Replace)
	case *ast.Interval:
		c.expr(e.X)
	case *ast.Unary:
		c.expr(e.X)
	case *ast.Binary:
		c.expr(e.L)
		c.expr(e.R)
	case *ast.Logical:
		c.exprs(e.Args)
	case *ast.Not:
		c.expr(e.X)
	case *ast.IsNull:
		c.expr(e.X)
	case *ast.IsBool:
		c.expr(e.X)
	case *ast.IsDistinct:
		c.expr(e.L)
		c.expr(e.R)
	case *ast.Between:
		c.expr(e.X)
		c.expr(e.Lo)
		c.expr(e.Hi)
	case *ast.InList:
		c.expr(e.X)
		c.exprs(e.List)
	case *ast.InQuery:
		c.expr(e.X)
		c.query(e.Query)
	case *ast.Like:
		c.expr(e.X)
		c.expr(e.Pattern)
	case *ast.Quantified:
		c.expr(e.X)
		c.query(e.Query)
		c.expr(e.Array)
	case *ast.Cast:
		c.expr(e.X)
	case *ast.Collate:
		c.expr(e.X)
	case *ast.AtTimeZone:
		c.expr(e.X)
	case *ast.Extract:
		c.expr(e.X)
	case *ast.Func:
		for _, a := range e.Args {
			c.expr(a.X)
		}
		c.expr(e.Filter)
		c.order(e.OrderBy)
		if e.Over != nil {
			c.window(e.Over)
		}
	case *ast.Case:
		c.expr(e.Operand)
		for _, w := range e.Whens {
			c.expr(w.Cond)
			c.expr(w.Then)
		}
		c.expr(e.Else)
	case *ast.Subquery:
		c.query(e.Query)
	case *ast.Exists:
		c.query(e.Query)
	case *ast.Array:
		c.exprs(e.Elems)
	case *ast.ArrayQuery:
		c.query(e.Query)
	case *ast.Subscript:
		c.expr(e.X)
		c.expr(e.Index)
		c.expr(e.Upper)
	case *ast.Field:
		c.expr(e.X)
	case *ast.Struct:
		c.exprs(e.Values)
	case *ast.Lambda:
		c.expr(e.Body)
	case *ast.Row:
		c.exprs(e.Elems)
	}
}
