package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// comparedTexts are tests of texts that lanes can do together, in front of sinks and operators of all kinds.
var comparedTexts = []string{
	"select count(*), sum(id) from t where a = b",
	"select id, a from t where a = b and id % 3 <> 1 order by id",
	"select k, count(*), max(b), sum(f) from t where a = b group by k order by k",
	"select count(*), min(id) from t where a = '" + longest + "'",
	"select id from t where '" + longest + "' = b order by id",
	"select id, b from t where a like '" + longest[:40] + "%' order by id",
	"select count(*) from t where starts_with(a, '" + longest[:33] + "')",
	"select id from t where a = b and b like '" + longest[:32] + "%' and starts_with(a, b) order by id",
	"select t.id, d.v from t left join d on t.k = d.k where a = b and f > 10 order by 1, 2",
	"select count(*), sum(d.v) from t join d on t.k = d.k where t.a = t.b and exists (select 1 from d e where e.k = t.k and e.v > t.id)",
	"select count(*) from t where not a = b",
	"select count(*) from (select id, a, b from t where id < 400 union all select id, b, a from t) u where a = b",
	"select id, 100 / (id - 7) from t where a = b and id <> 7 order by id",
}

// longest is longer than what a warp compares at a time, 256 bytes.
var longest = strings.Repeat("Grüße aus der Nacht, ", 14)

// TestGPUExpandTexts: texts that the lanes of a warp compare together are the same for which the CPU finds that: with NULLs, empty ones, and ones that differ in any byte or are a part of each other.
func TestGPUExpandTexts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "set dictionaries = off")
	mustRun(t, s, "create table d as select g % 40 k, g v from generate_series(1, 100) x(g)")
	var rows []string
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	for i := range 500 {
		cut := []int{0, 1, 7, 8, 9, 31, 32, 33, 40, 255, 256, 257, 264, len(longest)}[i%14]
		a := longest[:cut]
		b := a
		switch i % 9 {
		case 1:
			b = a + "x"
		case 2, 3:
			if at := i * 37 % max(cut, 1); cut > 0 { // one byte differs
				b = a[:at] + "#" + a[at+1:]
			}
		case 4:
			b = longest
		}
		one, two := text(strings.ToValidUTF8(a, "?")), text(strings.ToValidUTF8(b, "?"))
		if i%23 == 0 {
			one = "null"
		}
		if i%29 == 0 {
			two = "null"
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %d.25)", i, i*7%50, one, two, i))
	}
	mustRun(t, s, "create table t (id int, k int, a text, b text, f double)")
	mustRun(t, s, "insert into t values "+strings.Join(rows, ", "))
	for i, sql := range comparedTexts {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := answerText(s, sql, nil)
		for _, refill := range []phys.Refill{phys.RefillAuto, phys.RefillFlush} {
			accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) {
				x.Expand, x.Refill = phys.ExpandWarp, refill
				x.Grid, x.Block = []int{0, 1, 3}[i%3], []int{0, 32, 96, 1024}[i%4]
			})
			onCPU := map[string]int{}
			if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
				t.Errorf("refill %s: %s\ngot  %.300s\nwant %.300s\n%v", refill, sql, got, want, onCPU)
			}
		}
		told := strings.Contains(explainText(t, s, "explain (analyze, pipelines) "+sql), "texts compared by the lanes of a warp together")
		if expected := !strings.Contains(sql, "not a = b"); told != expected {
			t.Errorf("told: %v, not %v: %s", told, expected, sql)
		}
	}
}

// comparedKeys are joins by text keys that are not unique, whose candidates lanes compare together.
var comparedKeys = []string{
	"select t.id, u.v from t join u on t.a = u.x order by 1, 2",
	"select count(*), sum(u.v), sum(t.f) from t join u on t.a = u.x and t.k = u.v % 50",
	"select count(*), sum(u.v) from t join u on t.a = u.x and t.b = u.x",
	"select t.id, u.v from t left join u on t.a = u.x order by 1, 2",
	"select t.id, u.v from t left join u on t.a = u.x and u.v % 3 = t.k % 3 order by 1, 2",
	"select t.id, u.v, u.x from t full join u on t.a = u.x order by 1, 2, 3",
	"select t.id from t where exists (select 1 from u where u.x = t.a and u.v > t.id) order by 1",
	"select t.id from t where not exists (select 1 from u where u.x = t.a and u.v > t.id) order by 1",
	"select t.id, t.a in (select x from u where x is not null or t.k > 100) from t order by 1",
	"select u.x, count(*), min(t.b) from t join u on t.a = u.x group by u.x order by 1",
	"select count(*) from t join u on upper(t.a) = u.x",
	"select count(*), sum(u.v) from t join u on t.a = u.x join d on d.k = t.k where d.v > u.v",
}

// TestGPUExpandTextKeys: joins by texts that the lanes of a warp compare together find what the CPU does: NULLs, empty keys, keys that differ in one byte, and keys of many rows.
func TestGPUExpandTextKeys(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "set dictionaries = off")
	mustRun(t, s, "set disabled_optimizers = 'joinorder'")
	mustRun(t, s, "create table d as select g % 40 k, g v from generate_series(1, 100) x(g)")
	text := func(i int) string {
		cut := []int{0, 1, 8, 31, 40, 255, 256, 257, len(longest)}[i%9]
		a := []byte(longest[:cut])
		if i%4 == 1 && cut > 0 { // one byte differs
			a[i*37%cut] = '#'
		}
		if i%17 == 0 {
			return "null"
		}
		return "'" + strings.ToValidUTF8(string(a), "?") + "'"
	}
	var rows, others []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %d.25)", i, i*7%50, text(i), text(i*5+2), i))
		if i%2 == 0 {
			others = append(others, fmt.Sprintf("(%s, %d)", text(i*11+3), i))
		}
		if i < 40 {
			others = append(others, fmt.Sprintf("(%s, %d)", text(4), 1000+i))
		}
	}
	mustRun(t, s, "create table t (id int, k int, a text, b text, f double)")
	mustRun(t, s, "create table u (x text, v int)")
	mustRun(t, s, "insert into t values "+strings.Join(rows, ", "))
	mustRun(t, s, "insert into u values "+strings.Join(others, ", "))
	for i, sql := range comparedKeys {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := answerText(s, sql, nil)
		for k, refill := range []phys.Refill{phys.RefillAuto, phys.RefillFlush} {
			accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) {
				x.Expand, x.Refill = phys.ExpandWarp, refill
				x.Grid, x.Block = []int{0, 1, 3}[(i+k)%3], []int{0, 32, 96, 1024}[i%4]
			})
			onCPU := map[string]int{}
			if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
				t.Errorf("refill %s: %s\ngot  %.300s\nwant %.300s\n%v", refill, sql, got, want, onCPU)
			}
		}
		plan := explainText(t, s, "explain (analyze, pipelines) "+sql)
		told := strings.Contains(plan, "texts compared by the lanes of a warp together")
		if expected := !strings.Contains(sql, "upper"); told != expected {
			t.Errorf("told: %v, not %v: %s\n%s", told, expected, sql, plan)
		}
	}
}
