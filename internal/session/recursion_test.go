package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

const endless = "with recursive t(n) as (select 1 union all select n + 1 from t where n > 0) select count(*) from t"

// TestEndlessRecursion: it runs until it is canceled, or there is no memory for more rows.
func TestEndlessRecursion(t *testing.T) {
	for _, threads := range []int{1, 3} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.Threads = threads })
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := s.Query(ctx, endless)
		cancel()
		if code := diag.CodeOf(err); code != diag.QueryCanceled {
			t.Errorf("%d threads: %v instead of a cancellation", threads, err)
		}
		s.Configure(func(x *Settings) { x.Memory = 4 << 20 })
		wide := strings.Replace(endless, "select 1 union", "select g from generate_series(1, 1000) s(g) union", 1)
		for _, sql := range []string{wide, strings.Replace(wide, "union all", "union", 1)} {
			ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
			_, err = s.Query(ctx, sql)
			cancel()
			if code := diag.CodeOf(err); code != diag.OutOfMemory {
				t.Errorf("%d threads: %v instead of the end of memory", threads, err)
			}
		}
	}
}

// TestRecursionCompiles: the code of a round runs again in the next.
func TestRecursionCompiles(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads = 1 })
	compiled := func(rounds string) int64 {
		res, err := s.Query(context.Background(), "with recursive t(n, s) as (select 1, 'a' union all select n + 1, repeat('b', n % 3) from t where n < "+rounds+") select count(*) from t")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		var pieces int64
		for _, p := range res.Stats.Pipelines {
			pieces += int64(p.Variants)
		}
		return pieces
	}
	if few, many := compiled("3"), compiled("500"); few != many {
		t.Errorf("%d functions for 3 rounds, %d for 500", few, many)
	}
}

// TestRecursionExplained: a device that does not run it says so.
func TestRecursionExplained(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Device = "simt" })
	res, err := s.Query(context.Background(), "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select * from t")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if n := strings.Join(res.Notices(), "\n"); !strings.Contains(n, "runs on the CPU") || !strings.Contains(n, "WITH RECURSIVE") {
		t.Errorf("the notices are %q", n)
	}
}
