package device

import (
	"errors"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

func TestCodeName(t *testing.T) {
	f := &ir.Func{Name: "f", Target: ir.GPU, Regs: []ir.RegInfo{{Name: "ctx"}}}
	name := CodeName(70, f)
	if name == "" {
		t.Skip("this program has no name")
	}
	if CodeName(70, f) != name {
		t.Error("another name for the same function")
	}
	if CodeName(90, f) == name {
		t.Error("the same name for another architecture")
	}
	f.Params = 1
	if CodeName(70, f) == name {
		t.Error("the same name for another function")
	}
}

// TestLoadNamed: what has no text is an error, and nothing is loaded for it.
func TestLoadNamed(t *testing.T) {
	d := NewSimulated(SimulatedOptions{})
	bad := errors.New("no text")
	if c, err := LoadNamed(d, "name", func() (string, error) { return "", bad }); c != nil || err != bad {
		t.Errorf("%v, %v", c, err)
	}
}
