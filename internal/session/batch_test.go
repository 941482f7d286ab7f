package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/types"
)

// TestBatches: Arrow batches hold what Values says, on any number of threads, straight from the
// table's columns and by way of tuples.
func TestBatches(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t (id int, b boolean, s smallint, n bigint, d decimal(38,2), m decimal(15,2), f double, g real, x text, y text, v interval, day date, at timestamp)")
	mustRun(t, s, `insert into t select i, case when i % 3 > 0 then i % 2 = 0 end, i % 7, case when i % 5 > 0 then i * 100000000007 end,
		case when i % 4 > 0 then i * 12345678901234567890.25 end, i % 100 + 0.5, i / 3.0, i * 0.5, case when i % 6 > 0 then 'text number ' || i end,
		case when i % 9 > 0 then substr('some words of a dictionary', 1, i % 27) end, case when i % 8 > 0 then interval '1 day' * (i % 40) end,
		date '2020-01-01' + i % 1000, timestamp '2020-01-01 00:00:00' + interval '1 second' * (i % 100000)
		from generate_series(1, 70000) as g(i)`)
	for _, q := range thin([]string{"select * from t", "select y, id from t where id % 3 = 1", "select id, x, v from t order by n, id", "select x, y from t limit 20000 offset 9000", "select * from t where id < 0", "select * from t limit 0"}) {
		for _, threads := range []int{1, 2, 5} {
			for _, direct := range []bool{true, false} {
				s.Configure(func(x *Settings) { x.Threads, x.Off.DirectScan = threads, !direct })
				ctx := context.Background()
				a, err := s.Query(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				want := a.Values()
				r, err := s.Query(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for {
					b, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					if b == nil {
						break
					}
					for i := range int(b.NumRows()) {
						for c := range r.Columns {
							if got := Cell(b.Column(c), i); n >= len(want) || got.Null != want[n][c].Null || !got.Null && !types.Equal(got, want[n][c]) {
								t.Fatalf("%s, %d threads: row %d column %s is %v", q, threads, n, r.Columns[c].Name, got)
							}
						}
						n++
					}
					b.Release()
				}
				if n != len(want) {
					t.Errorf("%s, %d threads: %d rows, want %d", q, threads, n, len(want))
				}
				a.Close()
				r.Close()
			}
		}
	}
	// Left in the middle.
	r, err := s.Query(context.Background(), "select * from t")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.Next(); err != nil || b == nil {
		t.Fatal(fmt.Sprint("no batch: ", err))
	}
	r.Close()
	if b, err := r.Next(); b != nil || err == nil {
		t.Error("a closed result delivers")
	}
}

// TestLongTexts: batches are cut where texts are long, and lose no row of it, on any number of threads.
func TestLongTexts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table long as select '"+strings.Repeat("long text ", 500000)+"' l")
	mustRun(t, s, "create table t as select g id, case when g % 50 = 7 then l when g % 3 > 0 then 'short' end x from generate_series(1, 400) x(g), long")
	mustRun(t, s, "create table many as select g id, case when g % 40000 < 5 then l else 'short' end x from generate_series(1, 140000) x(g), long")
	for _, q := range thin([]string{"select id, x, x from many", "select id, x from t", "select id, x || 'y' as x from t order by id"}) {
		for _, threads := range []int{1, 3} {
			s.Configure(func(x *Settings) { x.Threads = threads })
			r, err := s.Query(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			rows, batches := int64(0), 0
			for {
				b, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				bytes := 0
				for i := range int(b.NumRows()) {
					rows++
					if id := Cell(b.Column(0), i); id.I != rows {
						t.Fatalf("%s, %d threads: row %d has id %d", q, threads, rows, id.I)
					}
					bytes += b.Column(1).(*array.String).ValueLen(i)
				}
				if bytes > batchTexts && b.NumRows() > 1 {
					t.Errorf("%s, %d threads: a batch with %d bytes of text", q, threads, bytes)
				}
				b.Release()
				batches++
			}
			if rows != r.Rows || batches < 2 {
				t.Errorf("%s, %d threads: %d rows of %d in %d batches", q, threads, rows, r.Rows, batches)
			}
			r.Close()
		}
	}
}
