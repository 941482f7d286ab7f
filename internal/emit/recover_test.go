package emit

import (
	"errors"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestBugHasStackApart: the message of a bug in emit has no stack; the error has.
func TestBugHasStackApart(t *testing.T) {
	p := &pipe.Pipeline{Source: &pipe.Constants{Rows: make([][]plan.Expr, 1)}, // a filter on a column that nobody makes
		Ops:  []pipe.Op{&pipe.Filter{Preds: []plan.Expr{&plan.Ref{ID: 1}}}},
		Sink: &pipe.Collect{Limit: -1}}
	_, err := Pipeline(Request{Name: "pipe0", Cols: &plan.Columns{}, Pipeline: p})
	var bug *diag.Internal
	if !errors.As(err, &bug) {
		t.Fatalf("%v is no bug", err)
	}
	if strings.Contains(bug.Error(), "goroutine") || !strings.Contains(string(bug.Stack), "goroutine") {
		t.Errorf("message %q, stack of %d bytes", bug.Error(), len(bug.Stack))
	}
}

// TestCodeNobodyWants: writing code ends when nobody waits for it.
func TestCodeNobodyWants(t *testing.T) {
	cols := &plan.Columns{}
	a := cols.NewRef(cols.New("a", types.TInt32, true))
	var terms []plan.Expr
	for i := range int64(300) {
		n := plan.NewConst(types.IntValue(types.TInt32, i))
		terms = append(terms, plan.Compare(plan.Eq, plan.NewCall(plan.Mul, types.TInt32, a, a), n))
	}
	p := &pipe.Pipeline{Source: &pipe.Constants{Rows: make([][]plan.Expr, 1)},
		Ops: []pipe.Op{&pipe.Map{Exprs: []plan.Expr{plan.NewConst(types.IntValue(types.TInt32, 1))}, Cols: []plan.ColID{a.ID}},
			&pipe.Filter{Preds: []plan.Expr{plan.OrOf(terms...)}}},
		Sink: &pipe.Collect{Limit: -1}}
	done := make(chan struct{})
	if _, err := Pipeline(Request{Name: "pipe0", Cols: cols, Pipeline: p, Tuple: &layout.Tuple{}, Done: done}); err != nil {
		t.Fatal(err)
	}
	close(done)
	if _, err := Pipeline(Request{Name: "pipe0", Cols: cols, Pipeline: p, Tuple: &layout.Tuple{}, Done: done}); diag.CodeOf(err) != diag.QueryCanceled {
		t.Errorf("%v, want a canceled statement", err)
	}
}
