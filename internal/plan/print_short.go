package plan

import (
	"strconv"
	"strings"
)

// Names says how columns are called in a text.
type Names func(ColID) string

// Short calls columns by their names alone; one without a name is #id.
func (c *Columns) Short() Names {
	return func(id ColID) string {
		if id > 0 && int(id) < c.Len() {
			switch name := c.Get(id).Name; {
			case name == "":
			case strings.ContainsAny(name[:1], "<>=|+-*/%!~"): // named after an operator
				return strconv.Quote(name)
			default:
				return name
			}
		}
		return "#" + strconv.Itoa(int(id))
	}
}

// Expr prints an expression.
func (f Names) Expr(e Expr) string {
	p := printer{name: f}
	p.expr(e, 0)
	return p.b.String()
}

// And prints a conjunction.
func (f Names) And(es []Expr) string {
	p := printer{name: f}
	p.exprs("", es, " and ")
	return p.b.String()
}

// Equal prints l = r; nullSafe is IS NOT DISTINCT FROM.
func (f Names) Equal(l, r Expr, nullSafe bool) string {
	p := printer{name: f}
	p.expr(l, precCmp+1)
	p.b.WriteString([]string{" = ", " == "}[b2i(nullSafe)])
	p.expr(r, precCmp+1)
	return p.b.String()
}

// Cols prints a list of columns.
func (f Names) Cols(ids []ColID) string {
	p := printer{name: f}
	p.ids(ids)
	return p.b.String()
}

// Define prints "col = e", or only the column where e is just that column or one of its name.
func (f Names) Define(id ColID, e Expr) string {
	name, text := f(id), f.Expr(e)
	if name == text {
		return text
	}
	return name + " = " + text
}

// Agg prints an aggregate without its column.
func (f Names) Agg(a Agg) string {
	p := printer{name: f}
	p.agg(a)
	return p.b.String()
}

// SortKeys prints ORDER BY's list.
func (f Names) SortKeys(keys []SortKey) string {
	p := printer{name: f}
	p.sortKeys(keys)
	return p.b.String()
}
