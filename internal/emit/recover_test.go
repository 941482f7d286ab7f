package emit

import (
	"errors"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
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
