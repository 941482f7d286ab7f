package ast

// Queries that change the shape of a relation, and samples of one: DuckDB's PIVOT, UNPIVOT and SUMMARIZE, and TABLESAMPLE.

// Pivot makes columns of values: a group for each row of the result, and for each value of On a column of each aggregate.
type Pivot struct {
	Pos     int
	Source  TableExpr
	On      []PivotOn
	Using   []SelectItem // aggregates; none is count(*)
	Grouped bool         // GROUP BY was written
	GroupBy []Expr       // otherwise the columns that nothing else refers to
}

// PivotOn is an expression and the values of it that get columns; nil are those that there are.
type PivotOn struct {
	X      Expr
	Values []SelectItem
}

// Unpivot makes rows of columns: for each row of the source one for each of On, with its name and its values.
type Unpivot struct {
	Pos          int
	Source       TableExpr
	On           []UnpivotOn
	Name         Ident
	Values       []Ident
	IncludeNulls bool
}

// UnpivotOn is what becomes the values of a row: a column, several of them, or * and COLUMNS(…), which are one row for each.
type UnpivotOn struct {
	Exprs []Expr
	Alias Ident
}

// Summarize describes the columns of a query's result by their values.
type Summarize struct {
	Pos   int
	Query *Query
}

// SampleTable is t TABLESAMPLE ….
type SampleTable struct {
	Pos    int
	Table  TableExpr
	Sample *Sample
}

// Sample is which rows are taken at random.
type Sample struct {
	Pos     int
	Method  string // bernoulli, system or reservoir; "" depends on the amount
	Amount  Expr
	Percent bool // of the rows; otherwise a number of rows
	Seed    Expr // REPEATABLE; nil is another sample each time
}

func (q *Pivot) body()            {}
func (q *Unpivot) body()          {}
func (q *Summarize) body()        {}
func (s *Describe) body()         {}
func (s *ShowTables) body()       {}
func (t *SampleTable) tableExpr() {}

func (q *Pivot) Position() int       { return q.Pos }
func (q *Unpivot) Position() int     { return q.Pos }
func (q *Summarize) Position() int   { return q.Pos }
func (t *SampleTable) Position() int { return t.Pos }

func (p *printer) pivot(b *Pivot) {
	p.s("PIVOT ")
	p.table(b.Source)
	for i, on := range b.On {
		p.s(pick(i == 0, " ON ", ", "))
		p.expr(on.X, precLowest)
		if on.Values != nil {
			p.s(" IN (")
			p.items(on.Values)
			p.s(")")
		}
	}
	if b.Using != nil {
		p.s(" USING ")
		p.items(b.Using)
	}
	if b.Grouped {
		p.s(" GROUP BY ")
		p.exprs(b.GroupBy)
	}
}

func (p *printer) unpivot(b *Unpivot) {
	p.s("UNPIVOT ")
	p.table(b.Source)
	for i, on := range b.On {
		p.s(pick(i == 0, " ON ", ", "))
		if len(on.Exprs) > 1 {
			p.list(on.Exprs)
		} else {
			p.exprs(on.Exprs)
		}
		if !on.Alias.Empty() {
			p.s(" AS ", QuoteIdent(on.Alias.Name))
		}
	}
	p.s(" INTO ", pick(b.IncludeNulls, "INCLUDE NULLS ", ""), "NAME ", QuoteIdent(b.Name.Name), " VALUE ")
	for i, v := range b.Values {
		p.s(pick(i == 0, "", ", "), QuoteIdent(v.Name))
	}
}

func (p *printer) sample(s *Sample) {
	if s.Method != "" {
		p.s(s.Method, "(")
	}
	p.expr(s.Amount, precLowest)
	p.s(pick(s.Percent, " PERCENT", " ROWS"), pick(s.Method != "", ")", ""))
	if s.Seed != nil {
		p.s(" REPEATABLE (")
		p.expr(s.Seed, precLowest)
		p.s(")")
	}
}
