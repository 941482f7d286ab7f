package bind

import (
	"regexp"
	"slices"

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
	pattern := ast.Format(e)
	switch {
	case c.all == nil:
		c.pattern, c.all = pattern, b.columnsOf(s, e)
	case c.pattern != pattern:
		unsupported(e.Pos, "more than one pattern of COLUMNS in an item")
	}
	col := c.all[c.at]
	return b.mustReadExpr(b.read(col, e.Pos), e.Pos)
}

// columnsOf are the columns that COLUMNS(*), COLUMNS(* EXCLUDE (a)) or COLUMNS('pattern') stands for: those in whose names there
// is something that the pattern matches.
func (b *binder) columnsOf(s *scope, e *ast.Func) []found {
	if e.Star {
		return b.columnsBut(s, e.StarOf, e.Pos)
	}
	lit, ok := (*ast.Literal)(nil), false
	if len(e.Args) == 1 {
		lit, ok = e.Args[0].X.(*ast.Literal)
	}
	if !ok || lit.Kind != ast.LitString {
		panic(diag.Unsupported(e.Pos, "COLUMNS of anything but * or a pattern").WithHint("write COLUMNS(*) or COLUMNS('^a.*')"))
	}
	re, err := regexp.Compile(lit.Text)
	if err != nil {
		fail(diag.InvalidRegularExpression, e.Pos, "invalid regular expression: %v", err)
	}
	all := s.columns(func(name string) bool { return re.MatchString(name) })
	if all == nil {
		fail(diag.UndefinedColumn, e.Pos, "no column has a name like %q", lit.Text)
	}
	return all
}

// columnsBut are all columns but those that a star excludes; it may be nil.
func (b *binder) columnsBut(s *scope, star *ast.Star, pos int) []found {
	var out []ast.Ident
	if star != nil {
		if star.Qualifier != nil || star.Replace != nil || star.Rename != nil {
			panic(diag.Unsupported(star.Pos, "COLUMNS of a star with more than EXCLUDE"))
		}
		out = star.Exclude
	}
	for _, id := range out {
		if _, ok := s.find(id.Name, id.Pos); !ok {
			b.starMiss(s, id, "EXCLUDE")
		}
	}
	all := s.columns(func(name string) bool {
		return !slices.ContainsFunc(out, func(id ast.Ident) bool { return id.Name == name })
	})
	if all == nil {
		fail(diag.UndefinedColumn, pos, "there is no column left")
	}
	return all
}

// columns are the columns of a scope with names that want is true for.
func (s *scope) columns(want func(name string) bool) []found {
	var all []found
	for _, r := range s.rels {
		for i := range r.cols {
			if !r.cols[i].hidden && want(r.cols[i].name) {
				all = append(all, found{s, r, i})
			}
		}
	}
	return all
}
