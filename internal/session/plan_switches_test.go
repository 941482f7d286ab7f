package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/planjson"
	"github.com/kelpiedb/kelpie/internal/types"
)

// planDecisions is how the pipelines of a document would run on a GPU.
func planDecisions(t *testing.T, s *Session, doc string) (out []phys.Decision) {
	t.Helper()
	p, err := planjson.Read([]byte(doc), planjson.Lookup{Switch: phys.CheckSwitch, Named: func(string) (types.Type, bool) { return types.Type{}, false }, Table: func(_, name string) (*catalog.Table, error) {
		return s.DB.Catalog.Table(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	set := s.Settings()
	set.leavePlan()
	opts := s.options(&set)
	prog, _, err := s.plan(context.Background(), p.Query, &set, opts.Account, &Timing{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range compile.Explain(gpu.Prefiltered(prog, &opts), (*gpu.Store)(nil).Place("simt", &opts), compile.Options{Expand: set.Expand, Refill: set.Refill, Resolve: set.Resolve, Home: set.Home, Fuse: set.Fuse}) {
		if l.Err != nil {
			t.Fatal(l.Err)
		}
		out = append(out, l.How)
	}
	return out
}

// TestPlanJSONSwitches: a switch of an operator holds there and nowhere else, before what the session says, and the rows are the same.
func TestPlanJSONSwitches(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table l as select i as id, i % 100 as k, i % 1000 as a from generate_series(1, 3000) g(i)")
	mustRun(t, s, "create table m as select i % 100 as k, i as v from generate_series(1, 400) g(i)")
	mustRun(t, s, "create table n as select i % 400 as v, i as w from generate_series(1, 900) g(i)")
	mustRun(t, s, "set expand = 'lane'; set refill = 'off'; set feed = 'batch'; set device = 'simt'")
	const sql = "select count(*), sum(l.id), sum(m.v), sum(n.w) from l join m on l.k = m.k join n on m.v = n.v where l.a < 100"
	want, err := askCorpus(s, sql, false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := planText(s, sql)
	if err != nil {
		t.Fatal(err)
	}
	count := func(doc string) (warps, lanes, lists, tested int) {
		for _, d := range planDecisions(t, s, doc) {
			for _, p := range d.Probes {
				switch p.Expand {
				case phys.ExpandWarp:
					warps++
				case phys.ExpandLane:
					lanes++
				}
			}
			if d.Refill == phys.RefillList {
				lists++
			}
			if d.Prefilter.Filters > 0 {
				tested++
			}
		}
		return
	}
	check := func(doc, expected string) {
		t.Helper()
		if got := fmt.Sprint(count(doc)); got != expected {
			t.Errorf("warps, lanes, lists, scans that the CPU tests: %s, not %s\n%s", got, expected, doc)
		}
		rows, err := askCorpus(s, "CALL run_plan($1)", false, types.TextValue(doc))
		if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("%v %v, want %v", rows, err, want)
		}
	}
	check(text, "0 2 0 0")
	joins := strings.Replace(text, `"op": "join"`, `"switches": {"expand": "warp"}, "op": "join"`, 1)
	check(joins, "1 1 0 0")
	scans := strings.Replace(joins, `"table": "l"`, `"switches": {"refill": "list", "prefilter": "on"}, "table": "l"`, 1)
	if scans == joins {
		t.Fatal(text)
	}
	check(scans, "1 1 1 1")
	checkPipelineSwitches(t, s)
	if _, err := askCorpus(s, "CALL run_plan($1)", false, types.TextValue(strings.Replace(scans, `"expand": "warp"`, `"expand": "wrap"`, 1))); err == nil ||
		!strings.Contains(err.Error(), `.switches.expand: "wrap" is none of auto, lane, group, warp, balanced`) || !strings.Contains(err.Error(), "plan, at $.plan.") {
		t.Error(err)
	}
}

// checkPipelineSwitches: of two pipelines that fill one sink, or groups of two kinds, one has a switch of its own, with the rows of before; what is cut off it has it, too.
func checkPipelineSwitches(t *testing.T, s *Session) {
	mustRun(t, s, "set threads = 2")
	const sql = "select k % 3 g, count(*), sum(x + 1), max(y) from (select k, a x, id y from l where a < 300 union all select k, v * 2, v from m where v > 7) u group by 1 order by 1"
	want, err := askCorpus(s, sql, false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := planText(s, sql)
	if err != nil {
		t.Fatal(err)
	}
	at := func(place, switches string) string {
		out := strings.Replace(text, place, `"switches": {`+switches+`}, `+place, 1)
		if out == text {
			t.Fatalf("no %s in\n%s", place, text)
		}
		return out
	}
	for _, c := range []struct {
		doc  string
		want string // pipelines that are operator-at-a-time, multi-pass, resolved by tuples or by blocks, and with groups of lanes
	}{
		{text, "0 0 0 0 0"},
		{at(`"table": "l"`, `"fuse": "operator"`), "3 0 0 0 0"},
		{at(`"table": "m"`, `"fuse": "multipass"`), "0 2 0 0 0"},
		{at(`"table": "l"`, `"resolve": "tuple"`), "0 0 1 0 0"},
		{at(`"table": "m"`, `"fuse": "multipass", "resolve": "block"`), "0 2 0 2 0"},
		{at(`"op": "group"`, `"groups": "lanes"`), "0 0 0 0 2"},
	} {
		var operators, passes, tuples, blocks, lanes int
		for _, d := range planDecisions(t, s, c.doc) {
			for n, is := range map[*int]bool{&operators: d.Fuse == phys.FuseOperator, &passes: d.Fuse == phys.FuseMultipass, &tuples: d.Resolve == phys.ResolveTuple,
				&blocks: d.Resolve == phys.ResolveBlock, &lanes: d.Home.Wish == phys.HomeLanes} {
				if is {
					*n++
				}
			}
		}
		if got := fmt.Sprint(operators, passes, tuples, blocks, lanes); got != c.want {
			t.Errorf("%s, not %s\n%s", got, c.want, c.doc)
		}
		if rows, err := askCorpus(s, "CALL run_plan($1)", false, types.TextValue(c.doc)); err != nil || fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("%v %v, want %v\n%s", rows, err, want, c.doc)
		}
	}
	// A GPU takes whole blocks of rows, from the last one on.
	for place, part := range map[string]int64{`"share": "off"`: 0, `"share": "40"`: 3000 - 2048} {
		text, err = planText(s, "select count(*), sum(id), min(a) from l where k < 77")
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Query(context.Background(), "CALL run_plan($1)", types.TextValue(at(`"table": "l"`, place)))
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Stats.Pipelines[0].Shared.GPU; got != part || res.Values()[0][0].I != 2310 {
			t.Errorf("%s: the GPU had %d rows, not %d: %v", place, got, part, res.Values())
		}
		res.Close()
	}
}
