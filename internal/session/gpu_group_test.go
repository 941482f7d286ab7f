package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUGroups: groups that blocks keep in their shared memory are those of the CPU, whatever they hold: numbers of one to
// four words, below 0 or at the ends of their types, NULLs, floats, booleans, keys with NULLs, filters, values that only the
// first row brings, and more slots than a block has room for.
func TestGPUGroups(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table t as select g % 7 k, case when g % 5 = 0 then null else g % 5 end n, 'text ' || g % 3 s,
		(g * 7919) % 100 - 50 small, g::bigint * 16777213 % 4294967291 wide, (g::bigint * 16777213 % 4294967291) * 1000003 wider,
		case when g % 2 = 0 then 9223372036854775806 - g else g - 9223372036854775806 end huge,
		case when g % 3 = 0 then 9223372036854775806 - g else g - 9223372036854775806 end uneven, case when g % 100 < 50 then -g when g % 100 = 50 then 9223372036854775806 when g % 100 = 51 then -9223372036854775806 else g end mixed,
		(9223372036854775806 - g)::decimal(38,0) * 1000003 + g as large, -((9223372036854775806 - g)::decimal(38,0) * 1000003) as below,
		case when g % 4 = 0 then null else g end as part, null::int as none, g * 0.5::double as f, g % 11 = 0 as b, 2147483647 as most, (-2147483648)::int as least
		from generate_series(1, 3000) x(g)`)
	mustRun(t, s, "create table few as select * from t limit 1")
	mustRun(t, s, "create table empty as select * from t limit 0")
	aggs := []string{
		"count(*)", "count(part), count(none)", "sum(small)", "sum(small + 51)", "sum(wide)", "sum(wide - 2000000000)", "sum(wider)", "sum(-wider)",
		"sum(huge::decimal(38,0))", "sum(uneven::decimal(38,0))", "sum(large)", "sum(below)", "sum(mixed), sum(mixed::decimal(38,0))", "sum(large), sum(below), count(*)", "sum(huge)", "sum(uneven)",
		"min(small), max(small)", "min(wider), max(wider)", "min(part), max(none)", "sum(part), sum(none)", "min(most), max(most), min(least), max(least)",
		"min(f), max(f), sum(f)", "bool_and(b), bool_or(b)", "avg(small), avg(part)", "count(*) filter (where small > 0), sum(wide) filter (where b)",
		"min(n) filter (where none = 1), count(*)", "min(s)", "any_value(part)",
	}
	keys := []string{"k", "n", "k, n", "s, n", "k, n, s", "part % 1000, k, n", "part, k"}
	onCPU, asked := map[string]int{}, 0
	shapes := []struct{ grid, block int }{{0, 0}, {1, 32}, {3, 64}, {2, 1024}}
	for i, a := range thin(aggs) {
		for j, k := range keys {
			if testing.Short() && (i+j)%3 != 0 {
				continue
			}
			for _, table := range []string{"t", "few", "empty"} {
				sql := fmt.Sprintf("select %s, %s from %s group by %s order by %s", k, a, table, k, k)
				s.Configure(func(x *Settings) { x.Device = "cpu" })
				want := answerText(s, sql, nil)
				sh := shapes[(i+j)%len(shapes)]
				accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) { x.Grid, x.Block = sh.grid, sh.block })
				asked++
				if got := answerText(s, sql, onCPU); got != want && !strings.Contains(a, "any_value") {
					t.Errorf("%s\ngot  %.300s\nwant %.300s", sql, got, want)
				}
			}
		}
	}
	for why, n := range onCPU {
		if t.Logf("%d of %d ran on the CPU: %s", n, asked, why); n > asked/10 {
			t.Errorf("too many")
		}
	}
}

// answerText is a query's rows, or its error, as one text.
func answerText(s *Session, sql string, onCPU map[string]int) string {
	rows, err := askNoting(s, sql, onCPU)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, row := range rows {
		for _, c := range row {
			fmt.Fprintf(&b, "%s|", c.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
