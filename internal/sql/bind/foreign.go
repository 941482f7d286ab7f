package bind

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Files have columns of types that SQL has not. They may be listed, and be among those of a star in
// a subquery or a view; they are an error where a statement names one or returns it. What gets
// past that, say through a set operation, is refused when the scan is opened.

// noteForeign remembers that a column of the plan is one that cannot be read.
func (b *binder) noteForeign(r *rel, i int) {
	var def *catalog.ColumnDef
	switch c := &r.cols[i]; {
	case r.scan != nil && r.ordinal == nil:
		def = &r.scan.Table.Columns[i]
	case r.shared != nil:
		def = b.foreign[c.source]
	}
	if def == nil || def.Foreign == nil || !def.Foreign.Unreadable {
		return
	}
	if b.foreign == nil {
		b.foreign = map[plan.ColID]*catalog.ColumnDef{}
	}
	b.foreign[r.cols[i].id] = def
}

// mustRead refuses a column that cannot be read.
func (b *binder) mustRead(id plan.ColID, pos int) {
	if def := b.foreign[id]; def != nil {
		panic(Unreadable(def, pos))
	}
}

// mustReadExpr is mustRead for a reference.
func (b *binder) mustReadExpr(e plan.Expr, pos int) plan.Expr {
	if r, ok := e.(*plan.Ref); ok {
		b.mustRead(r.ID, pos)
	}
	return e
}

// Unreadable is the error for reading a column of a type that there is not.
func Unreadable(def *catalog.ColumnDef, pos int) *diag.Error {
	return diag.Unsupported(pos, "column %q: the type %s of the file", def.Name, def.Foreign.Type).
		WithHint("the other columns can be read: SELECT * EXCLUDE (%s)", ast.QuoteIdent(def.Name))
}
