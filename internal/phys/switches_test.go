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
		{"scan", "search", "flat", ""},
		{"join", "search", "flat", "the operator join has no switch search, but the operator scan does"},
		{"scan", "prefilter", "perhaps", `"perhaps" is none of auto, off, on`},
		{"scan", "expand", "warp", "the operator scan has no switch expand, but the operator join does"},
		{"join", "refill", "list", "the operator join has no switch refill, but the operator scan does"},
		{"scan", "fuse", "operator", ""},
		{"scan", "resolve", "tuple", ""},
		{"scan", "share", "40", ""},
		{"scan", "share", "101", "101 is no percentage from 0 to 100"},
		{"group", "groups", "lanes", ""},
		{"scan", "groups", "lanes", "the operator scan has no switch groups, but the operator group does"},
		{"scan", "feed", "batch", `no operator has a switch "feed", but expand, fuse, groups, partition, prefilter, refill, resolve, search, share; others are settings`},
	} {
		err := CheckSwitch(c.op, c.name, c.value)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	scan := &plan.Scan{Props_: plan.Props{Switches: map[string]string{"refill": "list", "prefilter": "off", "search": "lane"}}}
	join := &plan.Join{Props_: plan.Props{Switches: map[string]string{"expand": "balanced"}}}
	if got := RefillOff.At(&pipe.Pipeline{Source: &pipe.Table{Scan: scan}}); got != RefillList {
		t.Error(got)
	}
	if got := PrefilterOn.At(scan); got != PrefilterOff {
		t.Error(got)
	}
	if got := SearchFlat.At(scan); got != SearchLane || SearchFlat.At(&plan.Scan{}) != SearchFlat {
		t.Error(got)
	}
	if got := ExpandLane.At(join); got != ExpandBalanced {
		t.Error(got)
	}
	scan.Props_.Switches = map[string]string{"fuse": "operator", "resolve": "block", "share": "30"}
	p := &pipe.Pipeline{Source: &pipe.Table{Scan: scan}, Sink: &pipe.Aggregate{Group: &plan.Group{Props_: plan.Props{Switches: map[string]string{"groups": "lanes"}}}}}
	if f, r, h, s := FuseAuto.At(p), ResolveAuto.At(p), HomeBlock.At(p), (Share{}).At(scan); f != FuseOperator || r != ResolveBlock || h != HomeLanes || s != (Share{ShareFixed, 30}) {
		t.Error(f, r, h, s)
	}
	if f, h := FuseMultipass.At(&pipe.Pipeline{Source: &pipe.Series{}}), HomeShared.At(&pipe.Pipeline{Sink: &pipe.Collect{}}); f != FuseMultipass || h != HomeShared || HomeLocal.At(nil) != HomeLocal {
		t.Error(f, h)
	}
	if r, x, p := RefillFlush.At(&pipe.Pipeline{Source: &pipe.Series{}}), ExpandWarp.At(&plan.Join{}), PrefilterOn.At(&plan.Scan{}); r != RefillFlush || x != ExpandWarp || p != PrefilterOn || RefillList.At(nil) != RefillList {
		t.Error(r, x, p)
	}
}
