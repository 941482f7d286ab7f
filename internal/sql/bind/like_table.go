package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// withLike writes the columns of other tables out where CREATE TABLE says LIKE, as if they had been written there, and the constraints that it
// includes. Foreign keys are never among these, as in PostgreSQL.
func (b *binder) withLike(s *ast.CreateTable) *ast.CreateTable {
	if !slices.ContainsFunc(s.Columns, func(c ast.ColumnDef) bool { return c.Like != nil }) {
		return s
	}
	out := *s
	out.Columns, out.Constraints = nil, slices.Clone(s.Constraints)
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Like == nil {
			out.Columns = append(out.Columns, *c)
			continue
		}
		t := b.target(c.Like, "copy the columns of")
		for k := range t.Columns {
			out.Columns = append(out.Columns, likeColumn(c, &t.Columns[k]))
		}
		if slices.Contains(c.Including, "constraints") {
			for _, x := range t.Rules.Checks {
				out.Constraints = append(out.Constraints, ast.Constraint{Pos: c.Pos, Name: ast.Ident{Name: x.Name, Pos: c.Pos}, Kind: ast.Check, Check: parsed(x.SQL)})
			}
		}
		if slices.Contains(c.Including, "indexes") {
			for k, key := range t.Keys {
				kind := ast.Unique
				if t.IsPrimary(k) {
					kind = ast.PrimaryKey
				}
				u := ast.Constraint{Pos: c.Pos, Kind: kind}
				for _, o := range key {
					u.Columns = append(u.Columns, ast.Ident{Name: t.Columns[o].Name, Pos: c.Pos})
				}
				out.Constraints = append(out.Constraints, u)
			}
		}
	}
	return &out
}

// likeColumn is a column like another.
func likeColumn(like *ast.ColumnDef, def *catalog.ColumnDef) ast.ColumnDef {
	typ, err := parse.ParseType(def.Type.String())
	if err != nil {
		unsupported(like.Pos, "LIKE of a column of type %s", def.Type.SQLName())
	}
	typ.Pos = like.Pos
	c := ast.ColumnDef{Pos: like.Pos, Name: ast.Ident{Name: def.Name, Pos: like.Pos}, Type: typ, NotNull: def.NotNull}
	including := func(what string) bool { return slices.Contains(like.Including, what) }
	switch {
	case def.Generated != "":
		if including("generated") {
			c.Generated = parsed(def.Generated)
		}
	case def.Identity != catalog.NoIdentity:
		if including("identity") {
			c.Identity = ast.Identity(def.Identity)
		}
	case def.Default != "" && including("defaults"):
		c.Default = parsed(def.Default)
	}
	if including("comments") {
		c.Comment = def.Comment
	}
	return c
}
