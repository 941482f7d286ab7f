package session

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// TestExplainDecides: EXPLAIN tells before what EXPLAIN ANALYZE tells afterwards, where statistics are right, on the CPU and on a
// device; and it is something.
func TestExplainDecides(t *testing.T) {
	s, _, _ := onGPU(t, 1, device.SimulatedOptions{})
	s.Configure(func(x *Settings) { x.SIMD, x.Threads = device.SIMDAVX2, 1 })
	mustRun(t, s, "create table dim (k int primary key, name text, part int)")
	mustRun(t, s, "insert into dim select i, 'n' || i % 5, i % 50 from generate_series(1, 600) g(i)")
	mustRun(t, s, "create table fact (k int, v int, w bigint, s text)")
	mustRun(t, s, "insert into fact select i % 600 + 1, i % 100, i * 1000003::bigint, 's' || i from generate_series(1, 6000) g(i)")
	how := regexp.MustCompile(`(?m)^  how     (.*)$`)
	launch := regexp.MustCompile(`(; )?\d+ × \d+ threads`)
	told := func(sql string) string {
		var out []string
		for _, m := range how.FindAllStringSubmatch(rowsOf(t, s, sql), -1) {
			out = append(out, m[1])
		}
		return strings.Join(out, " / ")
	}
	for _, c := range []struct{ sql, cpu, gpu string }{
		{"select sum(v) from fact where v < 10", "64 rows at a time by 1 test, 10% pass", "8 rows at a time by 1 test, 10% pass"},
		{"select v, sum(w) from fact group by v", "groups in array of 100 slots", "8 rows a lane by wide loads; groups in array of 100 slots in shared memory, 8 copies"},
		{"select k, v, count(*) from fact group by k, v", "groups in hash table by packed keys", "groups in hash table by packed keys behind 4096 slots in shared memory"},
		{"select w, count(*) from fact group by w", "groups in hash table", "2 rows a lane by wide loads; groups in runs of sorted rows"},
		{"select sum(w) from fact, dim where fact.k = dim.k and dim.part = 7",
			"64 rows at a time by 1 test, 2% pass / semi-join by bitmap; probes direct", "8 rows at a time by 1 test, 2% pass / 8 rows at a time by 1 test, 2% pass; semi-join by bitmap; probes direct"},
		{"select k, v, w, s from fact where v = 3 order by w limit 5", "64 rows at a time by 2 tests, <1% pass; 3 late columns; keeps the first 5, 2048 at a time", "8 rows at a time by 1 test, 1% pass; 3 late columns"},
		{"select s, upper(s), v from fact where v > 1", "2 late columns", "2 late columns"},
	} {
		for _, dev := range []string{"cpu", "gpu"} {
			mustRun(t, s, "set device = '"+dev+"'")
			want := c.cpu
			if dev == "gpu" {
				want = c.gpu
			}
			before, after := told("explain (pipelines) "+c.sql), told("explain (analyze, pipelines, timing off) "+c.sql)
			if n := strings.Count(after, " threads"); dev == "gpu" && n == 0 || dev == "cpu" && n > 0 {
				t.Errorf("%s: launches in %q", dev, after)
			}
			after = strings.Trim(strings.ReplaceAll(launch.ReplaceAllString(after, ""), " /  / ", " / "), " /|")
			if before != want || after != want {
				t.Errorf("%s: %s\nbefore: %s\nafter:  %s\nwant:   %s", dev, c.sql, before, after, want)
			}
		}
	}
}
