package bind

import (
	"math"
	"math/rand/v2"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// sampledBlock is how many rows SYSTEM takes or leaves together.
const sampledBlock = 2048

// sample keeps rows of n at random. BERNOULLI decides for each row, SYSTEM for blocks of rows, and a number of rows, or
// RESERVOIR, means exactly so many.
func (b *binder) sample(n plan.Node, rels []*rel, s *ast.Sample) plan.Node {
	amount, method := b.sampleAmount(s), s.Method
	switch method {
	case "":
		method = "reservoir"
		if s.Percent {
			method = "system"
		}
	case "bernoulli", "system":
		if !s.Percent {
			panic(diag.Unsupported(s.Pos, "a number of rows by %s", method).WithHint("write reservoir(%d ROWS)", int64(amount)))
		}
	case "reservoir":
	default:
		panic(diag.Errorf(diag.UndefinedObject, s.Pos, "tablesample method %s does not exist", method).
			WithHint("there are bernoulli, system and reservoir"))
	}
	if method == "bernoulli" && s.Seed == nil {
		return below(n, plan.NewApply(funcs.Random(), types.TFloat64, s.Pos), amount/100)
	}
	n, number := b.numberedRows(n, rels)
	seed := plan.NewConst(types.IntValue(types.TInt64, b.sampleSeed(s)))
	if method == "system" {
		block := plan.NewCall(plan.Div, types.TInt64, number, plan.NewConst(types.IntValue(types.TInt64, sampledBlock)))
		return below(n, plan.NewApply(funcs.SampleFraction, types.TFloat64, s.Pos, block, seed), amount/100)
	}
	at := plan.NewApply(funcs.SampleFraction, types.TFloat64, s.Pos, number, seed)
	if method == "bernoulli" {
		return below(n, at, amount/100)
	}
	for _, r := range rels { // columns cannot be asked for later
		for i := range r.cols {
			b.column(r, i)
		}
	}
	p := &plan.Project{Input: n, Keep: n.Produces(nil), Exprs: []plan.Expr{at}, Cols: []plan.ColID{b.newCol("sample", at)}}
	keys := []plan.SortKey{{Col: p.Cols[0]}}
	if !s.Percent {
		return &plan.Sort{Input: p, Keys: keys, Limit: int64(amount)}
	}
	return b.numberedLimit(p, keys, plan.NewConst(types.FloatValue(types.TFloat64, amount)), nil, true, false)
}

// below keeps the rows for which x is less than a number.
func below(n plan.Node, x plan.Expr, than float64) plan.Node {
	return &plan.Filter{Input: n, Preds: []plan.Expr{plan.Compare(plan.Lt, x, plan.NewConst(types.FloatValue(types.TFloat64, than)))}}
}

// numberedRows gives the rows of n numbers: those that they have in a stored table, which are always the same.
func (b *binder) numberedRows(n plan.Node, rels []*rel) (plan.Node, plan.Expr) {
	if scan, ok := n.(*plan.Scan); ok && len(rels) == 1 && rels[0].stored && len(scan.Filter) == 0 {
		num, err := scan.Snap.Numbered()
		check(err, rels[0].pos)
		scan.Table, scan.Snap = num, num.Snapshot()
		row := b.cols.New("row number", types.TInt64, true)
		scan.Cols, scan.Ordinal = append(scan.Cols, row), append(scan.Ordinal, len(num.Columns)-1)
		return scan, b.ref(row)
	}
	w, number := b.ranked(n, plan.RowNumber, nil, nil)
	return w, number
}

// sampleAmount is how many rows or percent.
func (b *binder) sampleAmount(s *ast.Sample) float64 {
	c := b.sampleNumber(s.Amount, "TABLESAMPLE", diag.InvalidSample)
	if c.Null {
		fail(diag.InvalidSample, s.Amount.Position(), "TABLESAMPLE parameter cannot be null")
	}
	switch {
	case s.Percent && !(c.F >= 0 && c.F <= 100):
		fail(diag.InvalidSample, s.Amount.Position(), "sample percentage must be between 0 and 100")
	case !(c.F >= 0 && c.F < 1<<62):
		fail(diag.InvalidSample, s.Amount.Position(), "sample size must not be negative")
	}
	return c.F
}

// sampleSeed is what REPEATABLE says, or some number.
func (b *binder) sampleSeed(s *ast.Sample) int64 {
	if s.Seed == nil {
		return rand.Int64()
	}
	c := b.sampleNumber(s.Seed, "REPEATABLE", diag.InvalidSampleRepeat)
	if c.Null {
		fail(diag.InvalidSampleRepeat, s.Seed.Position(), "TABLESAMPLE REPEATABLE parameter cannot be null")
	}
	return int64(math.Float64bits(c.F))
}

func (b *binder) sampleNumber(x ast.Expr, clause, code string) types.Value {
	e := b.assign(b.expr(&scope{clause: clause}, x), types.TFloat64, x.Position(), clause)
	c, ok := e.(*plan.Const)
	if !ok {
		unsupported(x.Position(), "%s of something that is not a constant", clause)
	}
	return c.V
}
