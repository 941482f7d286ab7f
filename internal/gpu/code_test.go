package gpu

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// anyFunction is a function that may be replaced.
type anyFunction struct {
	device.Function
	quick  bool
	newest device.Function
}

func (f *anyFunction) Quick() bool { return f.quick }

func (f *anyFunction) Newest() device.Function {
	if f.newest != nil {
		return f.newest
	}
	return f
}

// TestCodesOfTwoKinds: who does not wait gets optimized code, and so does everybody once it is there.
func TestCodesOfTwoKinds(t *testing.T) {
	var c codes
	f := &ir.Func{Name: "f", Code: []ir.Instr{{Op: ir.Add}}}
	_, hash := c.find(f, true)
	quick, good, later := &anyFunction{quick: true}, &anyFunction{}, &anyFunction{}
	is := func(what string, waits bool, want device.Function) {
		t.Helper()
		if got, _ := c.find(f, waits); got != want {
			t.Errorf("%s: %p, want %p", what, got, want)
		}
	}
	c.add(f, hash, quick)
	is("who waits", true, quick)
	is("who does not", false, nil)
	c.add(f, hash, good)
	is("who waits, then", true, good)
	is("who does not, then", false, good)
	c.add(f, hash, quick) // of one that began before
	is("in the place of good code", true, good)
	if c.count != 1 {
		t.Errorf("there are %d functions", c.count)
	}
	other := &ir.Func{Name: "f", Code: f.Code, LocalBytes: 8}
	if got, _ := c.find(other, true); got != nil {
		t.Error("a function with more memory is another one")
	}

	c = codes{}
	c.add(f, hash, quick)
	quick.newest = later
	is("replaced", false, later)
	is("replaced, for those who wait", true, later)
}
