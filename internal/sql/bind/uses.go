package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Uses is what a view depends on, by way of other views, too.
type Uses struct {
	Tables map[*catalog.Table]map[int]bool // and which of their columns
	Views  map[*catalog.View]bool
	Enums  map[types.Type]bool
}

func (u *Uses) table(t *catalog.Table) map[int]bool {
	if u.Tables[t] == nil {
		u.Tables[t] = map[int]bool{}
	}
	return u.Tables[t]
}

// ViewUses binds a view to learn what it depends on. The error is that of a view that means nothing any more.
func ViewUses(env Env, v *catalog.View) (u *Uses, err error) {
	defer diag.Recover("bind", &err)
	b := newBinder(env, nil)
	b.uses = &Uses{map[*catalog.Table]map[int]bool{}, map[*catalog.View]bool{}, map[types.Type]bool{}}
	b.viewQuery(v, diag.NoPos)
	return b.uses, nil
}

// RenamedIn is the text of a view in which a table, or its column o if that is not negative, has another name.
func RenamedIn(env Env, v *catalog.View, t *catalog.Table, o int, to string) (sql string, err error) {
	defer diag.Recover("bind", &err)
	b := newBinder(env, nil)
	var columns []int
	tables := map[int]string{}
	b.onColumn = func(e *ast.ColumnRef, r *rel, i int) {
		if len(b.views) == 0 && r.table == t && i == o && strings.EqualFold(r.cols[i].name, t.Columns[o].Name) {
			columns = append(columns, e.Name[len(e.Name)-1].Pos)
		}
	}
	b.onTable = func(ref *ast.TableRef, table *catalog.Table) {
		if len(b.views) == 0 && table == t && o < 0 {
			name := ref.Name[len(ref.Name)-1]
			by := ast.QuoteIdent(to)
			if ref.Alias == nil || ref.Alias.Name.Empty() { // columns may have the old name before them
				by += " AS " + ast.QuoteIdent(name.Name)
			}
			tables[name.Pos] = by
		}
	}
	b.viewQuery(v, diag.NoPos)
	sql = replaceNames(v.SQL, columns, ast.QuoteIdent(to))
	for len(tables) > 0 { // from the end on, so that places stay
		last := -1
		for at := range tables {
			last = max(last, at)
		}
		sql = replaceNames(sql, []int{last}, tables[last])
		delete(tables, last)
	}
	return sql, nil
}

// storedType is a type that is stored as a text.
func (b *binder) storedType(text string) types.Type {
	n, err := parse.ParseType(text)
	if err != nil {
		panic(diag.Internalf("bind", "stored type %s: %v", text, err))
	}
	return b.typeName(n)
}

// parseName reads a name with dots, as functions get it in a text.
func parseName(text string) (ast.Name, error) {
	e, err := parse.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*ast.ColumnRef); ok {
		return c.Name, nil
	}
	return nil, diag.Errorf(diag.InvalidName, diag.NoPos, "invalid name syntax")
}
