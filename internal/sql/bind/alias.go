package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// alias binds a name that is no column as the expression that the select list gives it to: in WHERE, HAVING, and other
// items, as DuckDB does. Columns come first, those of queries around this one too, so that whatever PostgreSQL accepts
// means the same.
func (b *binder) alias(s *scope, e *ast.ColumnRef) plan.Expr {
	if len(e.Name) != 1 {
		return nil
	}
	for i := range s.items {
		it := &s.items[i]
		if it.Alias.Empty() || it.Alias.Name != e.Name[0].Name || b.inAlias[it] {
			continue // an item that refers to itself means a column that there is not
		}
		if b.inAlias == nil {
			b.inAlias = map[*ast.SelectItem]bool{}
		}
		if b.aliases++; b.aliases > maxQueries { // each is bound where it is used, and they may use each other
			fail(diag.StatementTooComplex, e.Pos, "names of the select list are used more than %d times, through each other included", maxQueries)
		}
		b.inAlias[it] = true
		x := b.expr(s, it.X)
		delete(b.inAlias, it)
		return x
	}
	return nil
}
