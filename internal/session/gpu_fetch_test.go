package session

import (
	"context"
	"os"
	"testing"
)

// TestGPUFetch: results that come through many small blocks are those of the CPU, with rows by their numbers alone, with numbers beside other columns, with
// texts and without.
func TestGPUFetch(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t (a bigint, b text, c integer, d date, e double)")
	for range 3 { // segments of different sizes
		mustRun(t, s, "insert into t select (select count(*) from t) + g, 'text '||g % 77||repeat('ü', (g % 9)::int), case when g % 5 > 0 then g % 3 end, date '2020-01-01' + g::int, g / 4.0 from generate_series(1, 1500 + (select count(*) from t)) x(g)")
	}
	for _, block := range []int{64, 1000, 8 << 10, 1 << 20} {
		_, store := limited(t, 3, 0)
		store.Block = block
		s.DB.Accelerate(store)
		for _, sql := range []string{"select * from t where c = 1", "select * from t where a > 0", "select * from t where a = 4711", "select * from t where a < 0", "select *, a + 1 from t where c is null",
			"select b || 'x', a from t where c > 0", "select b, e from t order by b, a", "select a, e * 2 from t", "select x.*, y.a + x.a from t x join t y on x.a = y.a + 1500"} {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, sql))
			s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
			for again := range 2 { // the second time there is memory that the device reaches
				if got := sortedLines(rowsOf(t, s, sql)); got != want {
					t.Errorf("blocks of %d, again %d: %s:\n%.600s\nwant\n%.600s", block, again, sql, got, want)
				}
				store.Settle()
			}
		}
	}
}

// TestGPULanding: memory for results that the device reaches is made behind the first result, is the next one's until that is closed, and not another's meanwhile; it
// keeps its rows when the device is closed.
func TestGPULanding(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, 'text '||g b, g * 2 c from generate_series(1, 5000) x(g)")
	_, store := limited(t, 3, 0)
	store.Block = 4096
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
	open := func(sql string) *Result {
		res, err := s.Query(context.Background(), sql)
		if err != nil {
			t.Fatal(err)
		}
		store.Settle()
		return res
	}
	is := func(free, lent int) {
		t.Helper()
		if f, l := store.Landings(); f != free || l != lent {
			t.Errorf("%d pieces of memory wait and %d are lent, want %d and %d", f, l, free, lent)
		}
	}
	const sql = "select a, c + 1 from t where a > 1000"
	want := sortedLines(resultText(open(sql)))
	is(1, 0)
	first := open(sql)
	is(0, 1)
	second := open(sql) // has to do without it
	is(1, 1)
	third := open("select a, c + 1 from t where a > 1001")
	is(0, 2)
	if got := sortedLines(resultText(second)); got != want {
		t.Errorf("second: %.300s", got)
	}
	third.Close()
	is(1, 1)
	mustRun(t, s, "set gpu_host_memory = '256kB'") // half of that for results
	open("select a, a + 1, c + 1, c + 2, c + 3, c + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, c + 11, c + 12, c + 13, c + 14 from t").Close()
	is(1, 1)
	if os.Getenv("KELPIE_GPU") != "cuda" { // which other tests still need
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := sortedLines(resultText(first)); got != want {
		t.Errorf("first: %.300s", got)
	}
}
