package ast

import (
	"strconv"
	"strings"
)

// Format prints an expression as SQL in PostgreSQL's manner, with parentheses only
// where precedence needs them. The text parses back to an equal tree.
func Format(e Expr) string {
	var p printer
	p.expr(e, precLowest)
	return p.String()
}

// FormatNamed is Format with names of columns by the caller's choice: to compare expressions that may
// write one column in two ways.
func FormatNamed(e Expr, column func(*ColumnRef) string) string {
	p := printer{column: column}
	p.expr(e, precLowest)
	return p.String()
}

// FormatQuery prints a query on one line; it parses back to an equal tree.
func FormatQuery(q *Query) string {
	var p printer
	p.query(q)
	return p.String()
}

// String prints the type as SQL: numeric(15,2), timestamptz, int[].
func (t TypeName) String() string {
	var p printer
	p.typeName(t)
	return p.String()
}

// Binding strengths, weakest first: PostgreSQL's table. Package parse climbs the
// same ladder (see its prec constants).
const (
	precLowest = iota
	precOr
	precAnd
	precNot
	precIs
	precCompare
	precIn // BETWEEN IN LIKE
	precOther
	precAdd
	precMul
	precPower
	precZone
	precCollate
	precUnary
	precPostfix // [] ::
	precPrimary
)

type printer struct {
	strings.Builder
	column func(*ColumnRef) string // nil: as written
}

func (p *printer) s(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// precOf is the strength of the operator at the top of e.
func precOf(e Expr) int {
	switch e := e.(type) {
	case *Logical:
		if e.Op == Or {
			return precOr
		}
		return precAnd
	case *Not:
		return precNot
	case *IsNull, *IsBool, *IsDistinct:
		return precIs
	case *Between, *InList, *InQuery, *Like:
		return precIn
	case *Binary:
		return binaryPrec(e.Op)
	case *Quantified:
		if strings.HasSuffix(e.Op, "like") {
			return precIn
		}
		return binaryPrec(e.Op)
	case *AtTimeZone:
		return precZone
	case *Collate:
		return precCollate
	case *Unary:
		if e.Op != "-" && e.Op != "+" {
			return precOther
		}
		return precUnary
	case *Cast:
		if !e.Try {
			return precPostfix
		}
	case *Subscript, *Field:
		return precPostfix
	}
	return precPrimary
}

func binaryPrec(op string) int {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return precCompare
	case "+", "-":
		return precAdd
	case "*", "/", "%":
		return precMul
	case "^":
		return precPower
	}
	return precOther
}

// expr prints e, in parentheses if its operator binds weaker than minPrec.
func (p *printer) expr(e Expr, minPrec int) {
	if precOf(e) < minPrec {
		p.s("(")
		p.bare(e)
		p.s(")")
		return
	}
	p.bare(e)
}

func (p *printer) bare(e Expr) {
	switch e := e.(type) {
	case *Literal:
		p.literal(e)
	case *TypedLiteral:
		p.typeName(e.Type)
		p.s(" ", QuoteString(e.Text))
	case *Interval:
		p.interval(e)
	case *Param:
		p.s("$", strconv.Itoa(e.Index))
	case *ColumnRef:
		if p.column != nil {
			p.s(p.column(e))
			break
		}
		p.s(e.Name.String())
	case *Star:
		p.star(e)
	case *Default:
		p.s("DEFAULT")
	case *Unary:
		// Two signs must not meet: -- starts a comment and other pairs are operators.
		p.s(e.Op)
		if e.Op != "-" && e.Op != "+" {
			p.s(" ")
			p.expr(e.X, precAdd)
			return
		}
		p.expr(e.X, precPostfix)
	case *Binary:
		p.binary(e)
	case *Logical:
		op, prec := " AND ", precAnd
		if e.Op == Or {
			op, prec = " OR ", precOr
		}
		for i, x := range e.Args {
			if i > 0 {
				p.s(op)
			}
			p.expr(x, prec+1)
		}
	case *Not:
		p.s("NOT ")
		p.expr(e.X, precNot)
	case *IsNull:
		p.expr(e.X, precIs+1)
		p.s(" IS ", not(e.Not), "NULL")
	case *IsBool:
		p.expr(e.X, precIs+1)
		p.s(" IS ", not(e.Not), strings.ToUpper(e.Value.String()))
	case *IsDistinct:
		p.expr(e.L, precIs+1)
		p.s(" IS ", not(e.Not), "DISTINCT FROM ")
		p.expr(e.R, precIs+1)
	case *Between:
		p.expr(e.X, precIn+1)
		p.s(" ", not(e.Not), "BETWEEN ")
		if e.Symmetric {
			p.s("SYMMETRIC ")
		}
		p.expr(e.Lo, precIn+1)
		p.s(" AND ")
		p.expr(e.Hi, precIn+1)
	case *InList:
		p.expr(e.X, precIn+1)
		p.s(" ", not(e.Not), "IN ")
		p.list(e.List)
	case *InQuery:
		p.expr(e.X, precIn+1)
		p.s(" ", not(e.Not), "IN ")
		p.subquery(e.Query)
	case *Like:
		p.expr(e.X, precIn+1)
		p.s(" ", not(e.Not), strings.ToUpper(e.Kind.String()), " ")
		p.expr(e.Pattern, precIn+1)
		if e.Escape != nil {
			p.s(" ESCAPE ")
			p.expr(e.Escape, precIn+1)
		}
	case *Quantified:
		p.expr(e.X, precOf(e)+1)
		p.s(" ", e.Op, pick(e.All, " ALL ", " ANY "))
		if e.Query != nil {
			p.subquery(e.Query)
		} else {
			p.list([]Expr{e.Array})
		}
	case *Cast:
		p.cast(e)
	case *Collate:
		p.expr(e.X, precCollate)
		p.s(" COLLATE ", e.Name.String())
	case *AtTimeZone:
		p.expr(e.X, precZone)
		if e.Zone == nil {
			p.s(" AT LOCAL")
			return
		}
		p.s(" AT TIME ZONE ")
		p.expr(e.Zone, precZone+1)
	default:
		p.primary(e)
	}
}

// primary prints what needs no parentheses around it.
func (p *printer) primary(e Expr) {
	switch e := e.(type) {
	case *Subscript:
		// After a cast, [ would be read as part of the type: x::int[1].
		if _, ok := e.X.(*Subscript); ok {
			p.expr(e.X, precPostfix)
		} else {
			p.expr(e.X, precPrimary)
		}
		p.s("[")
		if e.Index != nil {
			p.expr(e.Index, precLowest)
		}
		if e.Slice {
			p.s(" : ") // spaces: 1::2 would be a cast
			if e.Upper != nil {
				p.expr(e.Upper, precLowest)
			}
		}
		p.s("]")
	case *Field:
		p.s("(")
		p.expr(e.X, precLowest)
		p.s(").", QuoteIdent(e.Name.Name))
	case *Extract:
		p.s("EXTRACT(", QuoteIdent(e.Field), " FROM ")
		p.expr(e.X, precLowest)
		p.s(")")
	case *Func:
		p.call(e)
	case *Case:
		p.s("CASE")
		if e.Operand != nil {
			p.s(" ")
			p.expr(e.Operand, precLowest)
		}
		for _, w := range e.Whens {
			p.s(" WHEN ")
			p.expr(w.Cond, precLowest)
			p.s(" THEN ")
			p.expr(w.Then, precLowest)
		}
		if e.Else != nil {
			p.s(" ELSE ")
			p.expr(e.Else, precLowest)
		}
		p.s(" END")
	case *Subquery:
		p.subquery(e.Query)
	case *Exists:
		p.s("EXISTS ")
		p.subquery(e.Query)
	case *Array:
		p.s("ARRAY[")
		p.exprs(e.Elems)
		p.s("]")
	case *ArrayQuery:
		p.s("ARRAY")
		p.subquery(e.Query)
	case *Struct:
		p.s("{")
		for i := range e.Keys {
			p.s(pick(i == 0, "", ", "), QuoteString(e.Keys[i].Name), ": ")
			p.expr(e.Values[i], precLowest)
		}
		p.s("}")
	case *Lambda:
		p.s("(")
		for i, id := range e.Params {
			p.s(pick(i == 0, "", ", "), QuoteIdent(id.Name))
		}
		p.s(") -> ")
		p.expr(e.Body, precLowest)
	case *Row:
		if len(e.Elems) < 2 { // (a) would be a itself
			p.s("ROW")
		}
		p.list(e.Elems)
	}
}

func (p *printer) binary(e *Binary) {
	prec := binaryPrec(e.Op)
	left, right := prec, prec+1
	if prec == precCompare { // does not chain
		left = prec + 1
	}
	p.expr(e.L, left)
	p.s(" ", e.Op, " ")
	p.expr(e.R, right)
}

func (p *printer) literal(e *Literal) {
	switch e.Kind {
	case LitNull:
		p.s("NULL")
	case LitBool:
		p.s(strings.ToUpper(e.Text))
	case LitString:
		p.s(QuoteString(e.Text))
	default:
		p.s(e.Text)
	}
}

func (p *printer) interval(e *Interval) {
	p.s("INTERVAL ")
	if e.Precision >= 0 && e.Unit == "" {
		p.s("(", strconv.Itoa(e.Precision), ") ")
	}
	switch {
	case e.X == nil:
		p.s(QuoteString(e.Text))
	default:
		p.list([]Expr{e.X})
	}
	if e.Unit != "" {
		p.s(" ", strings.ToUpper(e.Unit))
		if e.Precision >= 0 {
			p.s("(", strconv.Itoa(e.Precision), ")")
		}
	}
}

func (p *printer) cast(e *Cast) {
	if e.Try {
		p.s("TRY_CAST(")
		p.expr(e.X, precLowest)
		p.s(" AS ")
		p.typeName(e.Type)
		p.s(")")
		return
	}
	p.expr(e.X, precPostfix)
	p.s("::")
	p.typeName(e.Type)
}

func (p *printer) typeName(t TypeName) {
	if t.Schema != "" {
		p.s(QuoteIdent(t.Schema), ".", QuoteIdent(t.Name))
	} else {
		p.s(typeIdent(t.Name))
	}
	if t.Fields != "" {
		p.s(" ", t.Fields)
	}
	if len(t.Mods) > 0 {
		p.s("(")
		for i, m := range t.Mods {
			if i > 0 {
				p.s(",")
			}
			p.s(strconv.FormatInt(m, 10))
		}
		p.s(")")
	}
	if t.Members != nil {
		p.s("(")
		for i, m := range t.Members {
			p.s(pick(i == 0, "", ", "))
			if !m.Name.Empty() {
				p.s(QuoteIdent(m.Name.Name), " ")
			}
			p.typeName(m.Type)
		}
		p.s(")")
	}
	if t.Labels != nil {
		p.s("(")
		for i, l := range t.Labels {
			p.s(pick(i == 0, "", ", "), QuoteString(l))
		}
		p.s(")")
	}
	for range t.Dims {
		p.s("[]")
	}
}

// typeIdent leaves the type names that the grammar itself knows without quotes.
func typeIdent(name string) string {
	if name == "double precision" || classes[name] == ColName {
		return name
	}
	return QuoteIdent(name)
}

func (p *printer) call(f *Func) {
	if f.isPosition() {
		p.s("POSITION(")
		p.expr(f.Args[0].X, precOther)
		p.s(" IN ")
		p.expr(f.Args[1].X, precOther)
		p.s(")")
		return
	}
	p.s(pick(f.Unpack, "*", ""), funcName(f.Name))
	if f.Bare {
		return
	}
	p.s("(")
	if f.StarOf != nil {
		p.star(f.StarOf)
	} else if f.Star {
		p.s("*")
	}
	if f.Distinct {
		p.s("DISTINCT ")
	}
	for i, a := range f.Args {
		if i > 0 {
			p.s(", ")
		}
		if f.Variadic && i == len(f.Args)-1 {
			p.s("VARIADIC ")
		}
		if !a.Name.Empty() {
			p.s(QuoteIdent(a.Name.Name), " => ")
		}
		p.expr(a.X, precLowest)
	}
	p.orderBy(f.OrderBy)
	p.s(")")
	if f.WithinGroup != nil {
		p.s(" WITHIN GROUP (")
		p.orderItems("ORDER BY ", f.WithinGroup)
		p.s(")")
	}
	if f.Filter != nil {
		p.s(" FILTER (WHERE ")
		p.expr(f.Filter, precLowest)
		p.s(")")
	}
	if f.IgnoreNulls {
		p.s(" IGNORE NULLS")
	}
	if f.Over != nil {
		p.s(" OVER ")
		p.window(f.Over)
	}
}

// isPosition says whether f can be printed as POSITION(a IN b).
func (f *Func) isPosition() bool {
	return len(f.Name) == 1 && f.Name[0].Name == "position" && len(f.Args) == 2 &&
		f.Args[0].Name.Empty() && f.Args[1].Name.Empty() && !f.Distinct && !f.Variadic && !f.IgnoreNulls &&
		f.OrderBy == nil && f.WithinGroup == nil && f.Filter == nil && f.Over == nil
}

// funcName prints the names of calls with a syntax of their own without quotes:
// coalesce is no ordinary function name, but coalesce(...) is what was written.
func funcName(n Name) string {
	if len(n) == 1 {
		switch n[0].Name {
		case "coalesce", "nullif", "greatest", "least", "grouping", "substring", "overlay":
			return n[0].Name
		}
		if c := classes[n[0].Name]; c == TypeFunc || n.special() {
			return n[0].Name
		}
	}
	return n.String()
}

// special reports the functions that SQL calls by a reserved word.
func (n Name) special() bool {
	switch n[0].Name {
	case "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
		"current_user", "session_user", "user", "current_role", "current_catalog", "current_schema":
		return !n[0].Quoted
	}
	return false
}

func (p *printer) exprs(list []Expr) {
	for i, x := range list {
		if i > 0 {
			p.s(", ")
		}
		p.expr(x, precLowest)
	}
}

func (p *printer) list(list []Expr) {
	p.s("(")
	p.exprs(list)
	p.s(")")
}

func not(b bool) string { return pick(b, "NOT ", "") }

func pick(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
