package phys

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestSwitches: an operator's switches come before those of the query, and where there are none these hold.
func TestSwitches(t *testing.T) {
	for _, c := range []struct{ op, name, value, wrong string }{
		{"join", "expand", "warp", ""},
		{"scan", "refill", "list", ""},
		{"scan", "prefilter", "on", ""},
		{"scan", "prefilter", "perhaps", `"perhaps" is none of auto, off, on`},
		{"scan", "expand", "warp", "the operator scan has no switch expand, but the operator join does"},
		{"join", "refill", "list", "the operator join has no switch refill, but the operator scan does"},
		{"scan", "feed", "batch", `no operator has a switch "feed", but expand, prefilter, refill; others are settings`},
	} {
		err := CheckSwitch(c.op, c.name, c.value)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	scan := &plan.Scan{Props_: plan.Props{Switches: map[string]string{"refill": "list", "prefilter": "off"}}}
	join := &plan.Join{Props_: plan.Props{Switches: map[string]string{"expand": "balanced"}}}
	if got := RefillOff.At(&pipe.Pipeline{Source: &pipe.Table{Scan: scan}}); got != RefillList {
		t.Error(got)
	}
	if got := PrefilterOn.At(scan); got != PrefilterOff {
		t.Error(got)
	}
	if got := ExpandLane.At(join); got != ExpandBalanced {
		t.Error(got)
	}
	if r, x, p := RefillFlush.At(&pipe.Pipeline{Source: &pipe.Series{}}), ExpandWarp.At(&plan.Join{}), PrefilterOn.At(&plan.Scan{}); r != RefillFlush || x != ExpandWarp || p != PrefilterOn || RefillList.At(nil) != RefillList {
		t.Error(r, x, p)
	}
}
