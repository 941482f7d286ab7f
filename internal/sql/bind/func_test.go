package bind

import (
	"slices"
	"strings"
	"testing"
)

// The tables are searched by halving.
func TestTablesSorted(t *testing.T) {
	if !slices.IsSortedFunc(funcs, func(a, b fn) int { return strings.Compare(a.name, b.name) }) {
		t.Error("funcs is not sorted")
	}
	for i := range funcs {
		f := &funcs[i]
		if findFunc(f.name) != f {
			t.Errorf("%s is not found, or twice in the table", f.name)
		}
		if _, ok := aggregateNamed(f.name); ok {
			t.Errorf("%s is an aggregate too", f.name)
		}
		if f.build == nil && (f.op == 0 || f.result.Kind == 0) {
			t.Errorf("%s has neither an operation nor a builder", f.name)
		}
		if f.min > len(f.args) {
			t.Errorf("%s needs %d arguments but has %d", f.name, f.min, len(f.args))
		}
	}
}
