package main

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/session"
)

// TestParallelSessions runs random statements in several sessions of one database at once, while
// another changes a table of its own; each must give the rows that it gives alone.
func TestParallelSessions(t *testing.T) {
	b := openBoth(t)
	const n = 120
	texts := make([]string, n)
	alone := make([][]string, n)
	run := func(k *kelpie, sql string) []string {
		rows, err := k.rows(sql)
		if err != nil {
			return []string{err.Error()}
		}
		var out []string
		for _, r := range sorted(rows) {
			out = append(out, rowText(r))
		}
		return out
	}
	for i := range texts {
		r := rand.New(rand.NewPCG(uint64(i), 77))
		texts[i] = (&sqlGen{r: r, budget: 25}).top()
		alone[i] = run(b.k, texts[i])
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			k := &kelpie{session.New(b.k.s.DB)}
			if err := k.drain("SET threads = 2; SET morsel_rows = 32"); err != nil {
				t.Error(err)
			}
			for i := range texts {
				i = (i*7 + w*31) % n
				got := run(k, texts[i])
				if len(got) != len(alone[i]) {
					t.Errorf("%s\n%d rows, alone %d", texts[i], len(got), len(alone[i]))
					continue
				}
				for j := range got {
					if got[j] != alone[i][j] {
						t.Errorf("%s\n%s, alone %s", texts[i], got[j], alone[i][j])
						break
					}
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		k := &kelpie{session.New(b.k.s.DB)}
		for i := range 60 {
			sql := "create or replace table scratch as select * from big where i % 7 = 3"
			if i%3 == 1 {
				sql = "insert into scratch select * from big where h > 900"
			} else if i%3 == 2 {
				sql = "delete from scratch where g > 5"
			}
			if err := k.drain(sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}()
	wg.Wait()
}
