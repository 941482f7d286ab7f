package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Format prints a query as an indented tree, one operator per line, shared
// plans first. Columns are printed as name#id, so that two of one name stay apart.
func Format(q *Query) string { return FormatWith(q, nil) }

// FormatWith is Format with a note of the caller's behind each operator instead of its
// estimate, for EXPLAIN ANALYZE.
func FormatWith(q *Query, note func(Node) string) string {
	p := printer{cols: q.Cols, rows: true, note: note}
	for i, s := range q.Shared {
		if s == nil {
			continue
		}
		fmt.Fprintf(&p.b, "shared %d %s(", i, s.Name)
		p.ids(s.Cols)
		p.b.WriteString(")\n")
		p.tree(s.Plan, 1)
	}
	p.b.WriteString("output ")
	for i, id := range q.Output {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.col(id)
		if i < len(q.Names) && q.Names[i] != q.Cols.Get(id).Name {
			p.b.WriteString(" as " + q.Names[i])
		}
	}
	p.b.WriteByte('\n')
	p.tree(q.Root, 1)
	return p.b.String()
}

// FormatNode prints a subtree as Format does.
func FormatNode(cols *Columns, n Node) string {
	p := printer{cols: cols, rows: true}
	p.tree(n, 0)
	return p.b.String()
}

// FormatLine prints a query on one line, inputs in parentheses after their operator and a
// chain of single inputs with "<": Sort(k) < Group(a: sum b) < Scan(t: a, b).
func FormatLine(q *Query) string {
	p := printer{cols: q.Cols, short: true}
	for i, s := range q.Shared {
		if s != nil {
			fmt.Fprintf(&p.b, "shared%d = ", i)
			p.line(s.Plan)
			p.b.WriteString("; ")
		}
	}
	p.line(q.Root)
	return p.b.String()
}

// FormatExpr prints an expression. cols may be nil, then columns are #id.
func FormatExpr(cols *Columns, e Expr) string {
	p := printer{cols: cols}
	p.expr(e, 0)
	return p.b.String()
}

// Describe is the operator's own line of the tree: its name and its expressions.
func Describe(cols *Columns, n Node) string {
	p := printer{cols: cols}
	p.op(n)
	return p.b.String()
}

type printer struct {
	b     strings.Builder
	cols  *Columns
	rows  bool               // print estimates
	short bool               // the one-line form: names without ids
	note  func(Node) string  // stands behind an operator instead of the estimate
	name  func(ColID) string // names columns instead of cols
	depth int                // of the tree, for subqueries
}

func (p *printer) tree(n Node, depth int) {
	old := p.depth
	p.depth = depth
	p.indent()
	p.op(n)
	if p.note != nil {
		p.b.WriteString(p.note(n))
	} else if r := n.Props().Rows; p.rows && r > 0 {
		p.b.WriteString("  ~" + FormatRows(r))
	}
	p.b.WriteByte('\n')
	NodeExprs(n, p.subqueries)
	for _, m := range n.Inputs() {
		p.tree(m, depth+1)
	}
	p.depth = old
}

// subqueries prints the plans of subqueries below the operator that holds them.
func (p *printer) subqueries(e Expr) {
	WalkExpr(e, func(e Expr) bool {
		if s, ok := e.(*Subquery); ok {
			p.depth++
			p.indent()
			p.b.WriteString("subquery ")
			p.ids(s.Output)
			p.b.WriteByte('\n')
			p.tree(s.Plan, p.depth+1)
			p.depth--
		}
		return true
	})
}

func (p *printer) indent() {
	for range p.depth {
		p.b.WriteString("  ")
	}
}

func (p *printer) line(n Node) {
	p.op(n)
	in := n.Inputs()
	switch len(in) {
	case 0:
	case 1:
		p.b.WriteString(" < ")
		p.line(in[0])
	default:
		p.b.WriteString(" [")
		for i, m := range in {
			if i > 0 {
				p.b.WriteString(" | ")
			}
			p.line(m)
		}
		p.b.WriteString("]")
	}
}

// FormatRows prints an estimate with three significant digits.
func FormatRows(r float64) string {
	for _, u := range [...]struct {
		f float64
		s string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if r >= u.f {
			if u.s == "k" {
				u.f = 1e3
			}
			return strconv.FormatFloat(r/u.f, 'g', 3, 64) + u.s
		}
	}
	if r >= 100 {
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return strconv.FormatFloat(r, 'g', 3, 64)
}

// op prints one operator.
func (p *printer) op(n Node) {
	switch x := n.(type) {
	case *Scan:
		name := "?"
		if x.Table != nil {
			name = x.Table.Name
		}
		p.b.WriteString("Scan(" + name)
		if x.Alias != "" && x.Alias != name {
			p.b.WriteString(" " + x.Alias)
		}
		p.list(": ", x.Cols)
		p.exprs("; where ", x.Filter, " and ")
		for i, r := range x.Reduce {
			p.b.WriteString([]string{"; reduce ", ", "}[min(i, 1)])
			p.col(r.Col)
			p.b.WriteString(" in ")
			p.buildKey(r)
		}
	case *Values:
		p.b.WriteString("Values(")
		p.ids(x.Cols)
		for i, r := range x.Rows {
			p.b.WriteString([]string{": ", "; "}[min(i, 1)])
			if i == 4 && len(x.Rows) > 5 {
				fmt.Fprintf(&p.b, "… %d more", len(x.Rows)-i)
				break
			}
			p.exprs("", r, ", ")
		}
	case *Series:
		p.b.WriteString("Series(")
		p.ids([]ColID{x.Col})
		fmt.Fprintf(&p.b, ": %d … %d", x.From, x.Last())
		if x.Step != 1 {
			fmt.Fprintf(&p.b, " by %d", x.Step)
		}
	case *SharedScan:
		fmt.Fprintf(&p.b, "SharedScan(%d", x.Index)
		for i, id := range x.Cols {
			p.b.WriteString([]string{": ", ", "}[min(i, 1)])
			p.col(id)
			if i < len(x.Source) && x.Source[i] != id {
				p.b.WriteString(" = ")
				p.col(x.Source[i])
			}
		}
	case *Filter:
		p.b.WriteString("Filter(")
		p.exprs("", x.Preds, " and ")
	case *Project:
		p.b.WriteString("Project(")
		p.ids(x.Keep)
		for i, e := range x.Exprs {
			if i > 0 || len(x.Keep) > 0 {
				p.b.WriteString(", ")
			}
			p.col(x.Cols[i])
			p.b.WriteString(" = ")
			p.expr(e, 0)
		}
	case *Join:
		p.join(x)
	case *Group:
		p.b.WriteString("Group(")
		for i, e := range x.Keys {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.named(x.KeyCols[i], e)
		}
		for i, a := range x.Aggs {
			p.b.WriteString([]string{"; ", ", "}[min(i, 1)])
			p.col(a.Col)
			p.b.WriteString(" = ")
			p.agg(a)
		}
	case *SetOp:
		p.b.WriteString("UnionAll(")
		p.ids(x.Cols)
		for i, ids := range x.InCols {
			p.b.WriteString([]string{" = ", " | "}[min(i, 1)])
			p.ids(ids)
		}
	case *Recursive:
		p.b.WriteString("Recursive(" + x.Name)
		if x.Distinct {
			p.b.WriteString(", distinct")
		}
		p.b.WriteString(": ")
		p.ids(x.Cols)
		for i, ids := range x.InCols {
			p.b.WriteString([]string{" = ", " | "}[min(i, 1)])
			p.ids(ids)
		}
	case *WorkScan:
		p.b.WriteString("WorkScan(" + x.Name)
		p.list(": ", x.Cols)
	case *Repeat:
		p.b.WriteString("Repeat(")
		p.col(x.Col)
		p.b.WriteString(" < ")
		p.expr(x.Count, precCmp+1)
	case *Sort:
		p.sort(x)
	case *Window:
		p.window(x)
	default:
		fmt.Fprintf(&p.b, "%T(", n)
	}
	p.b.WriteByte(')')
}

func (p *printer) join(x *Join) {
	kind := x.Kind.String()
	p.b.WriteString(strings.ToUpper(kind[:1]) + kind[1:] + "Join(")
	sep := ""
	if x.MarkCol != 0 {
		p.col(x.MarkCol)
		sep = ": "
	}
	for i := range x.LKeys {
		p.b.WriteString(sep)
		p.expr(x.LKeys[i], 1)
		if x.NullSafe != nil && x.NullSafe[i] {
			p.b.WriteString(" == ")
		} else {
			p.b.WriteString(" = ")
		}
		p.expr(x.RKeys[i], 1)
		sep = " and "
	}
	if len(x.On) > 0 {
		p.exprs("; on ", x.On, " and ")
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{x.Dependent, "dependent"}, {x.BuildLeft, "build left"}, {x.AtMostOne, "at most one"}, {x.Gate, "gate"}} {
		if f.on && !(p.short && f.name == "at most one") {
			p.b.WriteString("; " + f.name)
		}
	}
}

// buildKey prints the key of a join that a reducer takes its values from.
func (p *printer) buildKey(r Reducer) {
	keys := r.Join.RKeys
	if r.Join.BuildLeft {
		keys = r.Join.LKeys
	}
	if r.Key < len(keys) {
		p.expr(keys[r.Key], 1)
	}
}

func (p *printer) sort(x *Sort) {
	switch {
	case len(x.Keys) == 0:
		p.b.WriteString("Limit(")
	case x.Limit >= 0:
		p.b.WriteString("TopN(")
	default:
		p.b.WriteString("Sort(")
	}
	p.sortKeys(x.Keys)
	sep := ""
	if len(x.Keys) > 0 {
		sep = "; "
	}
	if x.Limit >= 0 {
		p.b.WriteString(sep + "limit " + strconv.FormatInt(x.Limit, 10))
		sep = " "
	}
	if x.Offset > 0 {
		p.b.WriteString(sep + "offset " + strconv.FormatInt(x.Offset, 10))
	}
}

func (p *printer) sortKeys(keys []SortKey) {
	sep := ""
	for _, k := range keys {
		p.b.WriteString(sep)
		p.col(k.Col)
		p.direction(k.Desc, k.NullsFirst)
		sep = ", "
	}
}

func (p *printer) direction(desc, nullsFirst bool) {
	if desc {
		p.b.WriteString(" desc")
	}
	if nullsFirst != desc {
		p.b.WriteString([]string{" nulls last", " nulls first"}[b2i(nullsFirst)])
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *printer) agg(a Agg) {
	switch {
	case a.Func == CountStar:
		p.b.WriteString("count(*)")
	case a.Func == Folded:
		p.fold(a)
	default:
		p.b.WriteString(a.Func.String() + "(")
		if a.Distinct {
			p.b.WriteString("distinct ")
		}
		p.exprs("", a.Args(), ", ")
		p.b.WriteByte(')')
	}
	if a.Filter != nil {
		p.b.WriteString(" filter (")
		p.expr(a.Filter, 0)
		p.b.WriteByte(')')
	}
}

// named prints "col = e", or only the column where e is just that column.
func (p *printer) named(id ColID, e Expr) {
	if r, ok := e.(*Ref); ok && r.ID == id {
		p.col(id)
		return
	}
	p.col(id)
	p.b.WriteString(" = ")
	p.expr(e, 0)
}

func (p *printer) list(before string, ids []ColID) {
	if len(ids) > 0 {
		p.b.WriteString(before)
		p.ids(ids)
	}
}

func (p *printer) ids(ids []ColID) {
	for i, id := range ids {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.col(id)
	}
}

func (p *printer) exprs(before string, es []Expr, sep string) {
	for i, e := range es {
		if i == 0 {
			p.b.WriteString(before)
		} else {
			p.b.WriteString(sep)
		}
		level := 0
		if sep == " and " {
			level = precAnd
		}
		p.expr(e, level)
	}
}

func (p *printer) col(id ColID) {
	if p.name != nil {
		p.b.WriteString(p.name(id))
		return
	}
	if p.cols != nil && id > 0 && int(id) < p.cols.Len() {
		p.b.WriteString(p.cols.Get(id).Name)
		if p.short {
			return
		}
	}
	p.b.WriteByte('#')
	p.b.WriteString(strconv.Itoa(int(id)))
}

// value prints a literal.
func (p *printer) value(v types.Value) { p.b.WriteString(formatValue(v)) }
