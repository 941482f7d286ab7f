package bind

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Every row means something, and every builder has a row.
func TestEveryRowMeansSomething(t *testing.T) {
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		if _, ok := aggregateNamed(r.Name); ok {
			t.Errorf("%s is an aggregate too", r.Name)
		}
		if _, ok := funcs.Absent(r.Name); ok {
			t.Errorf("%s is said to be absent", r.Name)
		}
		if r.Op == plan.OpNone && r.Fn == nil && builders[r.Name] == nil {
			t.Errorf("%s has neither an operation nor a function nor a builder", r.Name)
		}
		letters, least, _ := r.Params()
		if least > len(letters) {
			t.Errorf("%s needs %d arguments but has %d", r.Name, least, len(letters))
		}
		for k := range len(letters) {
			if funcs.Letters[letters[k]] == "" {
				t.Errorf("%s has a parameter %q", r.Name, letters[k])
			}
		}
	}
	for name := range builders {
		if funcs.Find(name) == nil {
			t.Errorf("the builder of %s has no row", name)
		}
	}
}
