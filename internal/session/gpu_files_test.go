package session

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// TestGPUFiles: files are read for a query on a device. A text file can be read once, so that is done only where nobody else
// could run the query; else the CPU does.
func TestGPUFiles(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	mustRun(t, s, `create table t as select g id, case when g % 5 > 0 then g * 1000003::bigint end n, g % 7 < 3 b, 'text ' || g % 900 s, g * 1e-3 f,
		g * 12345678901234567890123::decimal(38, 0) w, date '2000-01-01' + g d, case when g % 3 = 0 then 'a long text of number ' || g end l
		from generate_series(1, 70000) x(g)`)
	for _, form := range thin([]string{"parquet", "csv", "json"}) {
		name := filepath.Join(dir, "t."+form)
		mustRun(t, s, "copy t to '"+name+"' (format "+form+")")
		for _, q := range []string{
			"select count(*), sum(id), min(n), max(n), count(n), sum(w), min(l), max(s), min(d), max(d), count(*) filter (where b) from '" + name + "'",
			"select s, count(*), sum(n), max(l) from '" + name + "' where id % 3 = 0 group by s order by s limit 20",
			"select id, l, upper(s), w, f from '" + name + "' where d < date '2000-03-01' and l is not null order by id",
			"select count(*), sum(t.id) from t join '" + name + "' f on t.id = f.id and t.s = f.s where f.id > 69000",
			"select count(*), max(l) from '" + name + "' where id < 0",
		} {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := rowsOf(t, s, q)
			accelerate(t, s, 2, nil)
			if form == "parquet" {
				if got := rowsOf(t, s, q); got != want {
					t.Errorf("%s: %.300s, want %.300s", q, got, want)
				}
				onCPU := map[string]int{}
				if _, err := askNoting(s, q, onCPU); err != nil || len(onCPU) > 0 {
					t.Errorf("%s: %v %v", q, err, onCPU)
				}
				continue
			}
			if got := aloneOnGPU(t, s, q); got != want {
				t.Errorf("%s: %.300s, want %.300s", q, got, want)
			}
			if got := rowsOf(t, s, q); got != want {
				t.Errorf("with the CPU behind it, %s: %.300s, want %.300s", q, got, want)
			}
		}
	}
}

// aloneOnGPU is the answer of a device behind which there is no CPU.
func aloneOnGPU(t *testing.T, s *Session, q string) string {
	t.Helper()
	ctx := context.Background()
	stmts, err := Parse(q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Statement(s.env(ctx, s.DB.Catalog.Begin()), stmts[0].Stmt, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, timing := s.Settings(), Timing{}
	query := b.(*bind.Query).Plan
	prog, _, err := s.plan(ctx, query, &set, nil, &timing)
	if err != nil {
		t.Fatal(err)
	}
	opts := s.options(&set)
	opts.Last = true
	res, stats, err := gpu.Run(ctx, prog, gpu.NewStore(device.NewSimulated(device.SimulatedOptions{Seed: 5}), 0), opts)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return resultText(s.result(query, res, stats, timing))
}
