package bind

import (
	"strconv"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// values binds VALUES (…), (…).
func (b *binder) values(v *ast.Values, around *scope) result {
	s := around.push()
	s.clause = "VALUES"
	rows := make([][]plan.Expr, len(v.Rows))
	for i, row := range v.Rows {
		if len(row) != len(v.Rows[0]) {
			fail(diag.SyntaxError, row[0].Position(), "VALUES lists must all be the same length")
		}
		rows[i] = make([]plan.Expr, len(row))
		for k, x := range row {
			rows[i][k] = b.expr(s, x)
		}
	}
	n := len(rows[0])
	column := make([]plan.Expr, len(rows))
	cols := make([]outCol, n)
	want := make([]types.Type, n)
	for k := range n {
		pos := func(i int) int { return v.Rows[i][k].Position() }
		unknown := true
		for i := range rows {
			column[i] = rows[i][k]
			unknown = unknown && column[i].Type().Kind == types.Unknown
		}
		want[k] = b.commonType(column, pos, "VALUES")
		cols[k] = outCol{name: "column" + strconv.Itoa(k+1), pos: pos(0)}
		if c, ok := column[0].(*plan.Const); ok && unknown && len(rows) == 1 {
			cols[k].lit = c
		}
		for i := range rows {
			rows[i][k] = b.convert(rows[i][k], want[k], pos(i))
		}
	}
	return b.valuesNode(rows, cols, want)
}

// valuesNode is the relation of the rows, whose expressions have the wanted types already. Rows
// that refer to columns or hold subqueries cannot be Values; each is then a projection of one row.
func (b *binder) valuesNode(rows [][]plan.Expr, cols []outCol, want []types.Type) result {
	constant := true
	ids := make([]plan.ColID, len(cols))
	for k := range cols {
		notNull := true
		for i := range rows {
			constant = constant && plan.IsConst(rows[i][k])
			notNull = notNull && b.notNull(rows[i][k])
		}
		ids[k] = b.cols.New(cols[k].name, want[k], notNull)
		cols[k].id = ids[k]
	}
	if constant {
		return result{&plan.Values{Cols: ids, Rows: rows}, cols}
	}
	if len(rows) == 1 {
		return result{&plan.Project{Input: oneRow(), Exprs: rows[0], Cols: ids}, cols}
	}
	u := &plan.SetOp{Cols: ids}
	for _, row := range rows {
		p := &plan.Project{Input: oneRow(), Exprs: row}
		for k, e := range row {
			p.Cols = append(p.Cols, b.newCol(cols[k].name, e))
		}
		u.Args = append(u.Args, p)
		u.InCols = append(u.InCols, p.Cols)
	}
	return result{u, cols}
}
