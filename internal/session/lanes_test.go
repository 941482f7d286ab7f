package session

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
)

// profiled is EXPLAIN (ANALYZE, LANES) of a query: by pipeline, its source and operators.
func profiled(t *testing.T, s *Session, sql string) (out [][]jsonPart) {
	t.Helper()
	var doc struct{ Pipelines []jsonPipeline }
	explainJSON(t, s, "explain (analyze, lanes, pipelines, timing off, format json) "+sql, &doc)
	for _, p := range doc.Pipelines {
		out = append(out, append([]jsonPart{p.Source}, p.Ops...))
	}
	return out
}

// bins writes a histogram as 3×32 1×4: three iterations of 32 lanes, one of 4.
func bins(l *jsonLanes) string {
	var out []string
	for k := len(l.Histogram) - 1; k >= 0; k-- {
		if n := l.Histogram[k]; n > 0 {
			out = append(out, fmt.Sprintf("%d×%d", n, k+1))
		}
	}
	return strings.Join(out, " ")
}

// TestLanesByHand: histograms are those that one can work out. Lanes take rows in order, 32 at a time.
func TestLanesByHand(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	mustRun(t, s, "create table r as select i, (i * 7) % 100 v from generate_series(0, 99) g(i)")
	mustRun(t, s, "create table once as select i k from generate_series(0, 31) g(i)")
	mustRun(t, s, "create table often (k int)") // key 5 four times, 6 twice, others once, 31 never
	mustRun(t, s, "insert into often select i from generate_series(0, 30) g(i)")
	mustRun(t, s, "insert into often values (5), (5), (5), (6), (null)")
	mustRun(t, s, "create table none (k int)")
	for _, c := range []struct {
		sql  string
		want string // of the pipeline with most operators, part by part
	}{
		{"select sum(v) from r", "scan 3×32 1×4"},
		{"select sum(v) from r where i % 4 = 0", "scan 3×8 1×1"},
		{"select sum(v) from r where i % 64 = 63", "scan 1×1"},
		{"select sum(v) from r where i < 0", ""},
		{"select v from r where i % 2 = 0 union all select v from r where i % 32 = 1", "scan 3×16 1×2 union 3×16 1×2"},
		{"select count(*) from once, often where once.k = often.k", "scan 1×32 1×4 probe 1×32 1×3"},
		{"select count(*) from once left join often on once.k = often.k", "scan 1×32 probe 1×32 1×2 2×1"},
		{"select count(*) from once where exists (select 1 from often where often.k = once.k)", "scan 1×32 probe 1×31"},
		{"select count(*) from once where not exists (select 1 from often where often.k = once.k)", "scan 1×32 probe 1×1"},
		{"select sum(g) from once, lateral generate_series(1, k % 3) x(g)", "scan 1×32 compute 1×32 repeat 1×21 1×10"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			var longest []jsonPart
			for _, p := range profiled(t, s, c.sql) {
				if len(p) > len(longest) {
					longest = p
				}
			}
			var got []string
			for _, part := range longest {
				if part.Lanes != nil && part.Lanes.Tuples > 0 && part.Kind != "map" {
					got = append(got, part.Kind+" "+bins(part.Lanes))
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s, not %s", text, c.want)
			}
		})
	}
}

// TestLanesAgree: the tuples of the profile are the rows of EXPLAIN ANALYZE, behind every operator of every query, and an
// iteration has between 1 and 32 of them.
func TestLanesAgree(t *testing.T) {
	s := load(t, "tpch", "0.01")
	mustRun(t, s, "set device = 'simt'")
	seen := 0
	for i, q := range suiteQueries("tpch") {
		if testing.Short() && i%5 != 2 {
			continue
		}
		for n, p := range profiled(t, s, queryText(t, "tpch", q)) {
			for _, part := range p {
				l := part.Lanes
				if l == nil {
					if *part.Actual != 0 {
						t.Errorf("%s pipe%d: %s %s has %d rows and no lanes", q, n, part.Kind, part.Text, *part.Actual)
					}
					continue
				}
				seen++
				if l.Tuples != *part.Actual || l.Iterations > l.Tuples || l.Iterations*32 < l.Tuples {
					t.Errorf("%s pipe%d: %s %s has %d rows; the profile %d in %d iterations", q, n, part.Kind, part.Text, *part.Actual, l.Tuples, l.Iterations)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d operators were seen", seen)
	}
}

func TestLanesForms(t *testing.T) {
	s, _, _ := onGPU(t, 1, device.SimulatedOptions{})
	const query = "select b, count(*) from t0 where a % 2000 = 0 group by b"
	text := rowsOf(t, s, "explain (analyze, lanes, timing off) "+query)
	for _, want := range []string{"-- lanes\npipe0: about 27 registers a thread, 1024 bytes of shared memory a block, 147 instructions; 2048 of 2048 threads at a time\n  after ", "\n  scan t0: a, b ", " 10000           625   16.0 ", "\n  (instructions) ", "of the device 1.7 KiB beside columns"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	doc := rowsOf(t, s, "explain (analyze, pipelines, timing off, format json) "+query)
	for _, want := range []string{`"registers": 27,`, `"estimated": true`, `"shared_bytes_per_block": 1024`, `"instructions": `, `"occupancy": 1`, `"peak_device_bytes": 1`} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
	svg := rowsOf(t, s, "explain (analyze, lanes, format svg) "+query)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	if !strings.Contains(svg, "625 × 16.0 lanes") || !strings.Contains(svg, ">pipe0  scan t0: a, b<") {
		t.Error(svg)
	}
	mustRun(t, s, "set device = 'cpu'")
	if text := rowsOf(t, s, "explain (analyze, lanes, timing off) "+query); !strings.Contains(text, "pipe0: no lanes; it ran on the CPU") {
		t.Error(text)
	}
}

func TestActivity(t *testing.T) {
	var a exec.Activity
	if a.Mean() != 0 || a.Iterations() != 0 {
		t.Errorf("%v: mean %v", a, a.Mean())
	}
	a[0], a[31] = 3, 1
	if a.Tuples() != 35 || a.Iterations() != 4 || a.Mean() != 8.75 {
		t.Errorf("%d tuples, %d iterations, mean %v", a.Tuples(), a.Iterations(), a.Mean())
	}
	for lanes, part := range map[int]int{1: 0, 4: 0, 5: 1, 28: 6, 29: 7, 32: 7} {
		if partOf(lanes) != part {
			t.Errorf("%d lanes are in part %d", lanes, partOf(lanes))
		}
	}
}
