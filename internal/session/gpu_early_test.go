package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUEarlyPlaces: where every row of a source is written, its place is found first. The rows are those of the CPU, with NULLs, texts and values of two
// words, from groups, series and rows that Go went on with, also where the sink is too small at first and where a value fails.
func TestGPUEarlyPlaces(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select i id, case when i % 5 > 0 then i % 7 end k, 'é' || i % 11 s, i * 1000000000000000000.0 w from generate_series(1, 500) g(i)")
	for i, q := range []struct {
		sql   string
		early bool
	}{
		{"select k, count(*), sum(id), min(s), max(w), avg(id) from t group by k order by k", true},
		{"select k, s, min(w) + 1, null, count(*) * 2 from t group by k, s order by k, s, 3", true},
		{"select upper(s), sum(id) / (max(k) - 5) from t group by s order by s", true},
		{"select sum(id) / (count(*) - 84) from t group by k order by 1", true},
		{"select i, i * 2, 'x' || i, i / 3.0 from generate_series(1, 700) g(i) order by i", true},
		{"select 100 / (i - 50) from generate_series(1, 100) g(i)", true},
		{"select k, sum(id) from t group by k having sum(id) > 9000 order by k", false},
	} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := answerText(s, q.sql, nil)
		for _, off := range []bool{false, true} {
			accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) { x.Off.EarlyPlaces = off })
			if got := answerText(s, q.sql, map[string]int{}); got != want {
				t.Errorf("%s\ngot  %.300s\nwant %.300s", q.sql, got, want)
			}
			// What is written early is loaded after the place is known.
			text := answerText(s, "explain (ptx) "+q.sql, nil)
			found := false
			for kernel := range strings.SplitSeq(text, ".visible .entry") {
				place, made := strings.Index(kernel, "// write positions of the warp"), strings.Index(kernel, "// materialize")
				found = found || place >= 0 && made > place
			}
			if found != (q.early && !off) {
				t.Errorf("%s: early %v with early_places %v", q.sql, found, fmt.Sprint(!off))
			}
		}
		s.Configure(func(x *Settings) { x.Off.EarlyPlaces = false })
	}
}
