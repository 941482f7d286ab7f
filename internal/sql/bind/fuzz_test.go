package bind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FuzzBind holds the binder to its promise: what parses is bound to a sound plan or refused with
// a user's error that points into the text; it never panics.
func FuzzBind(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n\n") {
			sql, _, _ := strings.Cut(block, "\n----")
			f.Add(uncomment(sql))
		}
	}
	env := smallEnv(f)
	f.Fuzz(func(t *testing.T, sql string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 5*time.Second {
				t.Fatalf("%s\ntook %v", sql, d)
			}
		}()
		script, err := parse.Parse(sql)
		if err != nil {
			return
		}
		for _, p := range script {
			b, err := Statement(env, p.Stmt, goldenParams)
			if err != nil {
				var user *diag.Error
				if !errors.As(err, &user) {
					t.Fatalf("%s\n%v", sql, err)
				}
				if user.Code == "" || user.Pos > len(sql) {
					t.Fatalf("%s\n%+v", sql, user)
				}
				continue
			}
			for _, q := range plansOf(b) {
				if err := plan.Check(q); err != nil {
					t.Fatalf("%s\n%v\n%s", sql, err, plan.Format(q))
				}
				for _, id := range q.Output {
					if q.Cols.Get(id).Type.Kind == types.Unknown {
						t.Fatalf("%s\noutput without type\n%s", sql, plan.Format(q))
					}
				}
			}
		}
	})
}

// plansOf lists the plans of a bound statement.
func plansOf(b Bound) []*plan.Query {
	var q *plan.Query
	switch b := b.(type) {
	case *Query:
		q = b.Plan
	case *Insert:
		q = b.Query
	case *Change:
		q = b.Query
	case *CreateTable:
		q = b.Query
	case *Copy:
		q = b.Query
	case *Explain:
		return plansOf(b.Stmt)
	}
	if q == nil {
		return nil
	}
	return []*plan.Query{q}
}
