package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUSearch: lanes read texts in pieces that know nothing of where they begin and end, and find what is in them, wherever, and nothing
// that is beside them.
func TestGPUSearch(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Dict = false })
	mustRun(t, s, "create table w (id int, s varchar)")
	var rows []string
	add := func(text string) { rows = append(rows, fmt.Sprintf("(%d, '%s')", len(rows), text)) }
	for _, word := range []string{"zj", "j", "z", "Zj", "jz", "zzj", "a zj of several words", "a zj of several word", "Kelvin", "kelvin", "ﬁx", "mass", "maſs", "é", ""} {
		for n := range 37 {
			add(strings.Repeat("-", n) + word)
			add(strings.Repeat("é", n/2) + word + strings.Repeat("z", n%19))
			add(word + strings.Repeat("j", n) + word)
		}
	}
	add(strings.Repeat("long ", 20000) + "zj")
	rows = append(rows, "(-1, null)")
	mustRun(t, s, "insert into w values "+strings.Join(rows, ", "))
	tests := []string{"s like '%zj%'", "s like '%j%'", "s like '%z'", "s like 'z%j%'", "s like '%zj%zj%'", "s like '%a zj of several words%'", "s like '%zj_z%'", "s not like '%zz%'",
		"lower(s) like '%zj%'", "lower(s) like '%zj'", "lower(s) like '-%zj%'", "lower(s) like '%Zj%'", "lower(s) like '%kelvin%'", "lower(s) like '_%elv%n'", "upper(s) like '%MASS%'",
		"upper(s) like '%ZJ%ZJ%'", "upper(s) like '%É%'", "lower(s) not like '%zj%z%'", "lower(s || 'Zj') like '%zjzj'", "strpos(s, 'zj') > 20", "replace(s, 'zj', '') like '%z'",
		"s like '%'", "lower(s) like ''", "lower(s) like 'a zj of several words'"}
	for i, test := range tests {
		q := "select count(*), sum(id) from w where " + test
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsOf(t, s, q)
		accelerate(t, s, uint64(i+1), func(g *gpu.Store, x *Settings) {
			x.Grid, x.Block = 2, 64
			if i%2 == 1 {
				g.Room = 3
			}
		})
		if got := rowsOf(t, s, q); got != want {
			t.Errorf("%s: %s, want %s", test, got, want)
		}
		onCPU := map[string]int{}
		if _, err := askNoting(s, q, onCPU); err != nil || len(onCPU) > 0 {
			t.Errorf("%s: %v %v", test, err, onCPU)
		}
	}
}
