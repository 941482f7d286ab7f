package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// hypothetical reports an aggregate that says where a row would be among those of the group, were it there.
func hypothetical(name string) bool {
	return name == "rank" || name == "dense_rank" || name == "percent_rank" || name == "cume_dist"
}

// hypotheticalAgg binds rank(v, …) WITHIN GROUP (ORDER BY k, …) and its like as counts of the rows before that one.
func (b *binder) hypotheticalAgg(s *scope, e *ast.Func) plan.Expr {
	name := e.Name.Last()
	if e.Over != nil {
		unsupported(e.Pos, "OVER of the aggregate %s (WITHIN GROUP)", name)
	}
	if e.Distinct {
		fail(diag.SyntaxError, e.Pos, "cannot use DISTINCT with WITHIN GROUP")
	}
	var args []plan.Expr
	for _, a := range e.Args {
		args = append(args, b.expr(s, a.X))
	}
	if len(args) != len(e.WithinGroup) {
		inner := *s
		inner.aggs = nil
		for _, o := range e.WithinGroup {
			args = append(args, b.expr(&inner, o.X))
		}
		panic(noFunction(name, args, e.Pos).WithHint(
			"to use the hypothetical-set aggregate %s, the number of its arguments must be that of the keys of WITHIN GROUP", name))
	}
	h := &hypotheticalRow{e: e}
	var x ast.Expr
	switch name {
	case "rank":
		x = h.binary("+", h.count(h.before()), h.integer("1"))
	case "dense_rank":
		x = h.binary("+", h.kinds(), h.integer("1"))
	case "percent_rank":
		x = h.call("coalesce", h.binary("/", h.count(h.before()), h.call("nullif", h.double(h.count(nil)), h.integer("0"))), h.integer("0"))
	case "cume_dist":
		upTo := &ast.Logical{Pos: e.Pos, Op: ast.Or, Args: []ast.Expr{h.before(), h.same(len(e.Args))}}
		x = h.binary("/", h.binary("+", h.count(upTo), h.integer("1")), h.double(h.binary("+", h.count(nil), h.integer("1"))))
	}
	for i, a := range args {
		// The row's values are written outside of the counts, too: columns that are not grouped fail there. A count is never NULL.
		if refs := plan.Refs(a); !refs.Empty() {
			none := &ast.Case{Pos: e.Pos, Whens: []ast.When{{Cond: &ast.IsNull{Pos: e.Pos, X: e.Args[i].X}, Then: h.integer("0")}}, Else: h.integer("1")}
			x = h.call("coalesce", x, none)
		}
	}
	return b.expr(s, x)
}

// hypotheticalRow writes conditions on rows of the group, compared with the one that is not there.
type hypotheticalRow struct{ e *ast.Func }

func (h *hypotheticalRow) integer(text string) ast.Expr {
	return &ast.Literal{Pos: h.e.Pos, Kind: ast.LitInt, Text: text}
}

func (h *hypotheticalRow) binary(op string, l, r ast.Expr) ast.Expr {
	return &ast.Binary{Pos: h.e.Pos, Op: op, L: l, R: r}
}

func (h *hypotheticalRow) double(x ast.Expr) ast.Expr {
	return &ast.Cast{Pos: h.e.Pos, X: x, Type: ast.TypeName{Pos: h.e.Pos, Name: "double precision"}}
}

func (h *hypotheticalRow) call(name string, args ...ast.Expr) ast.Expr {
	f := &ast.Func{Pos: h.e.Pos, Name: ast.Name{{Name: name, Pos: h.e.Pos}}}
	for _, a := range args {
		f.Args = append(f.Args, ast.Arg{X: a})
	}
	return f
}

// count is the number of rows for which a condition holds; nil: of all.
func (h *hypotheticalRow) count(where ast.Expr) ast.Expr {
	filter := h.e.Filter
	if where != nil {
		filter = both(h.e.Pos, filter, where)
	}
	return &ast.Func{Pos: h.e.Pos, Name: ast.Name{{Name: "count", Pos: h.e.Pos}}, Star: true, Filter: filter}
}

// kinds is the number of different rows before that one, which may be NULL.
func (h *hypotheticalRow) kinds() ast.Expr {
	row := &ast.Row{Pos: h.e.Pos}
	for i := range h.e.WithinGroup {
		k := h.e.WithinGroup[i].X
		row.Elems = append(row.Elems, k, &ast.IsNull{Pos: h.e.Pos, X: k})
	}
	f := h.call("count", row).(*ast.Func)
	f.Distinct, f.Filter = true, both(h.e.Pos, h.e.Filter, h.before())
	return f
}

// before is true of the rows that are sorted before that one, and otherwise false or NULL.
func (h *hypotheticalRow) before() ast.Expr {
	var ways []ast.Expr
	for i, o := range h.e.WithinGroup {
		k, v := o.X, h.e.Args[i].X
		op := "<"
		if o.Desc {
			op = ">"
		}
		nullsFirst := o.Nulls == ast.NullsFirst || o.Nulls == ast.NullsDefault && o.Desc
		way := &ast.Logical{Pos: h.e.Pos, Op: ast.Or, Args: []ast.Expr{
			&ast.Binary{Pos: v.Position(), Op: op, L: k, R: v},
			&ast.Logical{Pos: h.e.Pos, Op: ast.And, Args: []ast.Expr{
				&ast.IsNull{Pos: h.e.Pos, X: k, Not: !nullsFirst}, &ast.IsNull{Pos: h.e.Pos, X: v, Not: nullsFirst}}}}}
		if i == 0 {
			ways = append(ways, way)
			continue
		}
		ways = append(ways, both(h.e.Pos, h.same(i), way))
	}
	if len(ways) == 1 {
		return ways[0]
	}
	return &ast.Logical{Pos: h.e.Pos, Op: ast.Or, Args: ways}
}

// same is true of the rows whose first n keys are those of that one.
func (h *hypotheticalRow) same(n int) (x ast.Expr) {
	for i := range n {
		x = both(h.e.Pos, x, &ast.IsDistinct{Pos: h.e.Pos, L: h.e.WithinGroup[i].X, R: h.e.Args[i].X, Not: true})
	}
	return x
}
