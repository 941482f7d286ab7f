package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestChooseRefill: a list pays where few rows pass and much follows.
func TestChooseRefill(t *testing.T) {
	few := Front{Rows: 8, Share: 0.25}
	for _, c := range []struct {
		what string
		f    Front
		rows int64
		work int
		wish Refill
		want Refill
	}{
		{"few pass, much follows", few, 1000, 24, RefillAuto, RefillList},
		{"little follows", few, 1000, 23, RefillAuto, RefillOff},
		{"many pass", Front{Rows: 8, Share: 0.26}, 1000, 99, RefillAuto, RefillOff},
		{"no front", Front{}, 1000, 99, RefillList, RefillOff},
		{"numbers of 32 bits do not reach", few, 1 << 32, 99, RefillList, RefillOff},
		{"they just do", few, 1<<32 - 1, 0, RefillList, RefillList},
		{"somebody does not want it", few, 1000, 99, RefillOff, RefillOff},
	} {
		if got := ChooseRefill(c.f, c.rows, c.work, c.wish); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	for _, name := range []string{"auto", "off", "flush", "list"} {
		if x, err := ParseRefill(name); err != nil || x.String() != name {
			t.Errorf("%s: %s, %v", name, x, err)
		}
	}
	if _, err := ParseRefill("none"); err == nil || err.Error() != `"none" is none of auto, off, flush, list` {
		t.Error(err)
	}
}

// TestRowWork: a division is as much work as several other operations.
func TestRowWork(t *testing.T) {
	x, two := &plan.Ref{ID: 1, T: types.TInt64}, plan.NewConst(types.IntValue(types.TInt64, 2))
	call := func(op plan.Op, a plan.Expr) plan.Expr {
		return &plan.Call{Op: op, T: types.TInt64, Args: []plan.Expr{a, two}}
	}
	p := &pipe.Pipeline{Ops: []pipe.Op{&pipe.Map{Exprs: []plan.Expr{call(plan.Add, call(plan.Mul, x))}}}}
	if n := RowWork(p); n != 2 {
		t.Errorf("a sum and a product: %d", n)
	}
	p.Ops = append(p.Ops, &pipe.Filter{Preds: []plan.Expr{call(plan.Mod, call(plan.Div, x))}}, &pipe.Map{Exprs: []plan.Expr{x}})
	if n := RowWork(p); n != 2+2*divisionWork {
		t.Errorf("and two divisions: %d", n)
	}
}
