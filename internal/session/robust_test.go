package session

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// long are statements that take for ever in different places: a product of tables, a join
// with many matches per row, a sort.
var long = []string{
	"select count(*) from lineitem a, lineitem b where a.l_comment < b.l_comment",
	"select sum(a.l_quantity * b.l_tax) from lineitem a join lineitem b on a.l_linenumber = b.l_linenumber",
	"select a.l_orderkey from lineitem a, lineitem b order by a.l_comment, b.l_comment",
}

func TestCancel(t *testing.T) {
	s := load(t, "tpch", "0.01")
	for _, threads := range []int{1, 2} {
		s.Configure(func(x *Settings) { x.Threads = threads; x.Memory = 2 << 30 })
		for _, q := range long {
			before := column.BytesInUse()
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			_, err := s.Query(ctx, q)
			cancel()
			if diag.CodeOf(err) != diag.QueryCanceled {
				t.Errorf("%s: %v, want a canceled query", q, err)
			}
			if after := column.BytesInUse(); after > before {
				t.Errorf("%s: %d bytes not given back", q, after-before)
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	s := load(t, "tpch", "0.01")
	for _, threads := range []int{1, 2} {
		s.Configure(func(x *Settings) { x.Threads = threads })
		for _, q := range []string{
			"select l_orderkey, l_partkey, count(*) from lineitem group by 1, 2",
			"select * from lineitem order by l_comment",
			"select count(*) from lineitem a join lineitem b on a.l_comment = b.l_comment",
			"select l_comment from lineitem where l_tax >= 0",
		} {
			before := column.BytesInUse()
			s.Configure(func(x *Settings) { x.Memory = 300_000 })
			_, err := s.Query(context.Background(), q)
			if diag.CodeOf(err) != diag.OutOfMemory {
				t.Errorf("%s: %v, want out of memory", q, err)
			}
			if after := column.BytesInUse(); after > before {
				t.Errorf("%s: %d bytes not given back", q, after-before)
			}
			s.Configure(func(x *Settings) { x.Memory = 0 })
			res, err := s.Query(context.Background(), q)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			res.Close()
			if after := column.BytesInUse(); after > before {
				t.Errorf("%s: %d bytes not given back after success", q, after-before)
			}
		}
	}
}

// TestConcurrent runs many queries at once over one database, each with its own answer.
func TestConcurrent(t *testing.T) {
	s := load(t, "tpch", "0.01")
	var wg sync.WaitGroup
	for k := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := New(s.DB)
			mine.Configure(func(x *Settings) { x.Threads = 1 + k%3; x.MorselRows = []int{0, 100, 1000}[k%3] })
			qs := suiteQueries("tpch")
			for i := range qs {
				checkAnswer(t, mine, "tpch", "0.01", qs[(i+k*4)%len(qs)])
			}
		}()
	}
	wg.Wait()
}
