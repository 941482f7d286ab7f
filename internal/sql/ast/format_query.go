package ast

import "strings"

func (p *printer) subquery(q *Query) {
	p.s("(")
	p.query(q)
	p.s(")")
}

func (p *printer) query(q *Query) {
	if q.With != nil {
		p.with(q.With)
	}
	p.body(q.Body, 0)
	p.orderBy(q.OrderBy)
	if q.WithTies {
		if q.Offset != nil {
			p.s(" OFFSET ")
			p.expr(q.Offset, precLowest)
		}
		p.s(" FETCH FIRST ")
		p.list([]Expr{q.Limit})
		p.s(" ROWS WITH TIES")
		return
	}
	if q.Limit != nil {
		p.s(" LIMIT ")
		if q.LimitPercent {
			p.expr(q.Limit, precLowest)
			p.s("%")
		} else {
			p.expr(q.Limit, precLowest)
		}
	}
	if q.Offset != nil {
		p.s(" OFFSET ")
		p.expr(q.Offset, precLowest)
	}
}

func (p *printer) with(w *With) {
	p.s("WITH ", pick(w.Recursive, "RECURSIVE ", ""))
	for i := range w.CTEs {
		c := &w.CTEs[i]
		if i > 0 {
			p.s(", ")
		}
		p.s(QuoteIdent(c.Name.Name))
		p.columns(c.Columns)
		p.s(" AS ", [...]string{"", "MATERIALIZED ", "NOT MATERIALIZED "}[c.Materialized])
		p.subquery(c.Query)
	}
	p.s(" ")
}

// body prints b; strength 0 allows a set operation without parentheses, 1 only
// INTERSECT, 2 none.
func (p *printer) body(b Body, strength int) {
	switch b := b.(type) {
	case *Query:
		p.subquery(b)
	case *Select:
		p.sel(b)
	case *Values:
		p.s("VALUES ")
		for i, row := range b.Rows {
			if i > 0 {
				p.s(", ")
			}
			p.list(row)
		}
	case *Pivot:
		p.pivot(b)
	case *Unpivot:
		p.unpivot(b)
	case *Summarize:
		p.s("SUMMARIZE ")
		p.query(b.Query)
	case *Describe:
		p.s("DESCRIBE ")
		p.query(b.Query)
	case *ShowTables:
		p.s("SHOW TABLES")
	case *SetOp:
		own := 0
		if b.Kind == Intersect {
			own = 1
		}
		if own < strength {
			p.s("(")
			defer p.s(")")
		}
		p.body(b.L, own)
		p.s(" ", strings.ToUpper(b.Kind.String()), pick(b.All, " ALL", ""), pick(b.ByName, " BY NAME ", " "))
		p.body(b.R, own+1)
	}
}

func (p *printer) sel(s *Select) {
	p.s(pick(len(s.Items) > 0, "SELECT ", "SELECT"))
	if s.Distinct {
		p.s("DISTINCT ")
	}
	if s.DistinctOn != nil {
		p.s("DISTINCT ON ")
		p.list(s.DistinctOn)
		p.s(" ")
	}
	p.items(s.Items)
	for i, t := range s.From {
		p.s(pick(i == 0, " FROM ", ", "))
		p.table(t)
	}
	if s.Where != nil {
		p.s(" WHERE ")
		p.expr(s.Where, precLowest)
	}
	if s.GroupByAll {
		p.s(" GROUP BY ALL")
	}
	for i := range s.GroupBy {
		p.s(pick(i == 0, " GROUP BY ", ", "))
		p.group(&s.GroupBy[i])
	}
	if s.Having != nil {
		p.s(" HAVING ")
		p.expr(s.Having, precLowest)
	}
	for i, w := range s.Windows {
		p.s(pick(i == 0, " WINDOW ", ", "), QuoteIdent(w.Name.Name), " AS ")
		p.window(w)
	}
	if s.Qualify != nil {
		p.s(" QUALIFY ")
		p.expr(s.Qualify, precLowest)
	}
	if s.Sample != nil {
		p.s(" USING SAMPLE ")
		p.sample(s.Sample)
	}
}

func (p *printer) items(items []SelectItem) {
	for i, it := range items {
		if i > 0 {
			p.s(", ")
		}
		p.expr(it.X, precLowest)
		if !it.Alias.Empty() {
			p.s(" AS ", QuoteIdent(it.Alias.Name))
		}
	}
}

func (p *printer) star(e *Star) {
	if e.Qualifier != nil {
		p.s(e.Qualifier.String(), ".")
	}
	if e.Of != nil {
		p.s("(")
		p.expr(e.Of, 0)
		p.s(").")
	}
	p.s("*")
	if e.Exclude != nil {
		p.s(" EXCLUDE")
		p.columns(e.Exclude)
	}
	if e.Replace != nil {
		p.s(" REPLACE (")
		p.items(e.Replace)
		p.s(")")
	}
	for i, r := range e.Rename {
		p.s([...]string{" RENAME (", ", "}[min(i, 1)], QuoteIdent(r.Old.Name), " AS ", QuoteIdent(r.New.Name))
	}
	if e.Rename != nil {
		p.s(")")
	}
}

func (p *printer) group(g *GroupItem) {
	switch g.Kind {
	case GroupEmpty:
		p.s("()")
	case GroupRollup:
		p.s("ROLLUP ")
		p.list(g.Exprs)
	case GroupCube:
		p.s("CUBE ")
		p.list(g.Exprs)
	case GroupSets:
		p.s("GROUPING SETS (")
		for i := range g.Sets {
			if i > 0 {
				p.s(", ")
			}
			p.group(&g.Sets[i])
		}
		p.s(")")
	default:
		p.exprs(g.Exprs)
	}
}

func (p *printer) orderBy(items []OrderItem) { p.orderItems(" ORDER BY ", items) }

func (p *printer) orderItems(lead string, items []OrderItem) {
	for i := range items {
		it := &items[i]
		p.s(pick(i == 0, lead, ", "))
		if it.All {
			p.s("ALL")
		} else {
			p.expr(it.X, precLowest)
		}
		if it.Desc {
			p.s(" DESC")
		}
		p.s([...]string{"", " NULLS FIRST", " NULLS LAST"}[it.Nulls])
	}
}

func (p *printer) window(w *Window) {
	if w.Bare {
		p.s(QuoteIdent(w.Ref.Name))
		return
	}
	p.s("(")
	lead := ""
	if !w.Ref.Empty() {
		p.s(QuoteIdent(w.Ref.Name))
		lead = " "
	}
	if w.PartitionBy != nil {
		p.s(lead, "PARTITION BY ")
		p.exprs(w.PartitionBy)
		lead = " "
	}
	if w.OrderBy != nil {
		p.orderItems(lead+"ORDER BY ", w.OrderBy)
		lead = " "
	}
	if f := w.Frame; f != nil {
		p.s(lead, [...]string{"ROWS", "RANGE", "GROUPS"}[f.Unit], " BETWEEN ")
		p.bound(&f.Start)
		p.s(" AND ")
		p.bound(&f.End)
		p.s([...]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[f.Exclude])
	}
	p.s(")")
}

func (p *printer) bound(b *Bound) {
	if b.Offset != nil {
		p.expr(b.Offset, precNot) // an AND would end the bound
		p.s(" ")
	}
	p.s([...]string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind])
}

func (p *printer) columns(cols []Ident) {
	if cols == nil {
		return
	}
	p.s(" (")
	for i, c := range cols {
		if i > 0 {
			p.s(", ")
		}
		p.s(QuoteIdent(c.Name))
	}
	p.s(")")
}

func (p *printer) alias(a *Alias) {
	if a == nil {
		return
	}
	p.s(" AS ", QuoteIdent(a.Name.Name))
	p.columns(a.Columns)
}

func (p *printer) table(t TableExpr) {
	switch t := t.(type) {
	case *TableRef:
		p.s(t.Name.String())
		p.alias(t.Alias)
	case *FileRef:
		p.s(QuoteString(t.Path))
		p.alias(t.Alias)
	case *FuncTable:
		p.s(pick(t.Lateral, "LATERAL ", ""))
		p.call(t.Call)
		p.s(pick(t.Ordinality, " WITH ORDINALITY", ""))
		p.alias(t.Alias)
		if len(t.Defs) > 0 {
			p.s(pick(t.Alias == nil, " AS ", ""), "(")
			for i, d := range t.Defs {
				p.s(pick(i > 0, ", ", ""), QuoteIdent(d.Name.Name), " ", d.Type.String())
			}
			p.s(")")
		}
	case *SubqueryTable:
		p.s(pick(t.Lateral, "LATERAL ", ""))
		p.subquery(t.Query)
		p.alias(t.Alias)
	case *SampleTable:
		if j, ok := t.Table.(*Join); ok && j.Alias == nil {
			p.s("(")
			p.join(j)
			p.s(")")
		} else {
			p.table(t.Table)
		}
		p.s(" TABLESAMPLE ")
		p.sample(t.Sample)
	case *Join:
		if t.Alias != nil {
			p.s("(")
			p.join(t)
			p.s(")")
			p.alias(t.Alias)
			return
		}
		p.join(t)
	}
}

func (p *printer) join(j *Join) {
	p.table(j.L)
	p.s(pick(j.Natural, " NATURAL ", " "), pick(j.AsOf, "ASOF ", ""),
		pick(j.ByPlace, "POSITIONAL ", pick(j.Kind == InnerJoin, "", strings.ToUpper(j.Kind.String())+" ")), "JOIN ")
	if r, ok := j.R.(*Join); ok && r.Alias == nil {
		p.s("(")
		p.join(r)
		p.s(")")
	} else {
		p.table(j.R)
	}
	if j.On != nil {
		p.s(" ON ")
		p.expr(j.On, precLowest)
	}
	if j.Using != nil {
		p.s(" USING")
		p.columns(j.Using)
	}
}
