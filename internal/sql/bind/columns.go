package bind

import (
	"regexp"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// columnsCall is COLUMNS('pattern') or COLUMNS(*) in an item of a select list, which stands for as many items as there are
// columns of such names: min(COLUMNS(*)) is the minimum of each.
type columnsCall struct {
	scope   *scope
	pattern string
	all     []found // nil: there is no such call
	at      int     // the one that is being bound
}

// columnsFunc is the column that such a call stands for now, nil for other calls.
func (b *binder) columnsFunc(s *scope, e *ast.Func) plan.Expr {
	if len(e.Name) != 1 || e.Name[0].Name != "columns" || e.Name[0].Quoted {
		return nil
	}
	c := b.columns
	if c == nil || c.scope != s {
		unsupported(e.Pos, "COLUMNS outside of a select list")
	}
	pattern := ""
	if !e.Star {
		lit, ok := (*ast.Literal)(nil), false
		if len(e.Args) == 1 {
			lit, ok = e.Args[0].X.(*ast.Literal)
		}
		if !ok || lit.Kind != ast.LitString {
			panic(diag.Unsupported(e.Pos, "COLUMNS of anything but * or a pattern").WithHint("write COLUMNS(*) or COLUMNS('^a.*')"))
		}
		pattern = lit.Text
	}
	switch {
	case c.all == nil:
		c.pattern, c.all = pattern, b.columnsLike(s, pattern, e.Pos)
	case c.pattern != pattern:
		unsupported(e.Pos, "more than one pattern of COLUMNS in an item")
	}
	col := c.all[c.at]
	return b.mustReadExpr(b.read(col, e.Pos), e.Pos)
}

// columnsLike are the columns in whose names there is something that the pattern matches.
func (b *binder) columnsLike(s *scope, pattern string, pos int) []found {
	re, err := regexp.Compile(pattern)
	if err != nil {
		fail(diag.InvalidRegularExpression, pos, "invalid regular expression: %v", err)
	}
	var all []found
	for _, r := range s.rels {
		for i := range r.cols {
			if !r.cols[i].hidden && re.MatchString(r.cols[i].name) {
				all = append(all, found{s, r, i})
			}
		}
	}
	if all == nil {
		fail(diag.UndefinedColumn, pos, "no column has a name like %q", pattern)
	}
	return all
}
