package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// manyTerms are queries whose planning takes long.
func manyTerms(n int) map[string]string {
	list := func(sep, term string) string {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = strings.ReplaceAll(term, "#", fmt.Sprint(i))
		}
		return strings.Join(terms, sep)
	}
	return map[string]string{
		"or":   "select count(*) from t where " + list(" or ", "a = # and b = #"),
		"and":  "select count(*) from t where " + list(" and ", "a <> b + #"),
		"in":   "select count(*) from t where a in (" + list(", ", "b + #") + ")",
		"case": "select case " + list(" ", "when a = # then b + #") + " end from t",
		"list": "select " + list(", ", "a + #") + " from t",
	}
}

// TestPatience: every stage of planning ends when nobody waits for the statement any more.
func TestPatience(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "create table t (a int, b int)")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, q := range manyTerms(300) {
		check := func(stage string, err error) {
			t.Helper()
			if diag.CodeOf(err) != diag.QueryCanceled {
				t.Errorf("%s: %s gave %v", name, stage, err)
			}
		}
		_, err := parseUntil(ctx.Done(), q)
		check("parse", err)
		stmts, err := Parse(q)
		if err != nil {
			t.Fatal(err)
		}
		begin := func(ctx context.Context) (*plan.Query, error) {
			b, err := bind.Statement(s.env(ctx, s.DB.Catalog.Begin()), stmts[0].Stmt, nil)
			if err != nil {
				return nil, err
			}
			return b.(*bind.Query).Plan, nil
		}
		_, err = begin(ctx)
		check("bind", err)

		// The optimizer ends with the pass at hand.
		bound, err := begin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		_, passes, err := opt.Optimize(bound, opt.Options{Done: done, Trace: func(pass string, _ *plan.Query) {
			if pass == "inline" {
				close(done)
			}
		}})
		check("opt", err)
		if n := len(passes); passes[n-1].Name != "inline" {
			t.Errorf("%s: the optimizer went on to %s", name, passes[n-1].Name)
		}
	}
}

// BenchmarkManyTerms: what planning and compiling take grows with the text, not with its square.
func BenchmarkManyTerms(b *testing.B) {
	s := New(NewDB())
	rowsOf(b, s, "create table t (a int, b int); insert into t values (1, 2)")
	for _, n := range []int{5000, 50000} {
		for name, q := range manyTerms(n) {
			if name == "list" {
				continue // of columns there cannot be so many
			}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var sum Timing
				for range b.N {
					res, err := s.Query(context.Background(), q)
					if err != nil {
						b.Fatal(err)
					}
					sum.Plan += res.Timing.Plan
					res.Close()
				}
				b.ReportMetric(float64(sum.Plan.Milliseconds())/float64(b.N), "plan-ms")
			})
		}
	}
}
