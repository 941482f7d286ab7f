package session

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestFunctionExamples runs the example of every row of the registry.
func TestFunctionExamples(t *testing.T) {
	s := New(NewDB())
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		x, want, ok := strings.Cut(r.Example, " → ")
		if !ok {
			continue
		}
		if got := oneValue(s, "select "+x); got != want {
			t.Errorf("%s → %s, want %s", x, got, want)
		}
	}
}

// oneValue is the value of a query of one row and column, or its error.
func oneValue(s *Session, text string) string {
	res, err := s.Query(context.Background(), text)
	if err != nil {
		return diag.Format(err, text)
	}
	defer res.Close()
	rows := res.Values()
	if len(rows) != 1 {
		return fmt.Sprint(len(rows), " rows")
	}
	return rows[0][0].String()
}

// TestFunctionReference holds docs/functions.md to the registry; -rewrite writes it.
func TestFunctionReference(t *testing.T) {
	const path = "../../docs/functions.md"
	text := types.TText
	compiled := func(op plan.Op) bool {
		arg := func(t types.Type) plan.Expr { return &plan.Ref{ID: 1, T: t} }
		for _, x := range []*plan.Call{
			plan.NewCall(op, text, arg(text), plan.NewConst(types.TextValue("a")), plan.NewConst(types.TextValue("b"))),
			plan.NewCall(op, types.TFloat64, arg(types.TFloat64), arg(types.TFloat64)),
		} {
			if scalar.CanEmit(x) {
				return true
			}
		}
		return false
	}
	page := funcs.Reference(compiled, bind.Aggregates(), bind.WindowFunctions())
	if *rewrite {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil || string(old) != page {
		t.Errorf("docs/functions.md is not what the registry says (%v): run this test with -rewrite", err)
	}
}
