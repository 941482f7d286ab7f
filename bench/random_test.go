package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestRandomStatements runs queries made at random on both engines. BENCH_SEED and BENCH_COUNT choose
// which; a failure prints the query and the seed that makes it again.
func TestRandomStatements(t *testing.T) {
	seed, count := uint64(1), 400
	if s := os.Getenv("BENCH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("BENCH_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	b := openBoth(t)
	tally := map[string]int{}
	for i := range count {
		r := rand.New(rand.NewPCG(seed+uint64(i), 11))
		g := &sqlGen{r: r, budget: 5 + r.IntN(40)}
		sql := g.top()
		start := time.Now()
		verdict, detail := b.compare(sql)
		if took := time.Since(start); took > 2*time.Second {
			t.Logf("seed %d took %.1f s", seed+uint64(i), took.Seconds())
		}
		tally[verdict]++
		if detail != "" {
			t.Errorf("BENCH_SEED=%d BENCH_COUNT=1: %s\n%s\n%s", seed+uint64(i), verdict, sql, detail)
		}
	}
	t.Logf("seeds %d to %d: %v", seed, seed+uint64(count)-1, tally)
	if tally["same"] < count/3 && count > 10 {
		t.Errorf("only %d of %d queries could be compared: %v", tally["same"], count, tally)
	}
}

// compare runs a query on both engines: verdict names the outcome, detail is not empty if Kelpie
// is to be suspected. Where DuckDB without its optimizer disagrees with itself, it is the suspect.
func (b *both) compare(sql string) (verdict, detail string) {
	s := statement{kelpie: sql}
	rows, err := b.kelpieRows(sql, s.ordered())
	var bug *diag.Internal
	switch {
	case errors.As(err, &bug):
		return "internal error", errorText(err, sql)
	case err != nil && diag.CodeOf(err) == diag.FeatureNotSupported:
		return "kelpie does not support it", ""
	case diag.CodeOf(err) == diag.OutOfMemory || diag.CodeOf(err) == diag.QueryCanceled:
		return "too large", ""
	}
	want, duckErr := b.d.rows(sql)
	switch {
	case duckErr != nil && (strings.Contains(duckErr.Error(), "Not implemented") || strings.Contains(duckErr.Error(), "Invalid Error") ||
		strings.Contains(duckErr.Error(), "INTERNAL")):
		return "duckdb does not support it", ""
	case duckErr != nil && err != nil:
		return "both fail: " + diag.CodeOf(err), ""
	case err != nil && diag.CodeOf(err) == diag.NumericOutOfRange:
		return "kelpie overflows", "" // the order of evaluation is open
	case err != nil:
		return "kelpie fails", errorText(err, sql)
	case duckErr != nil:
		return "duckdb fails", "duckdb: " + duckErr.Error()
	}
	diff, inOrder := sameRows(rows, want)
	if diff == "" && (inOrder || !s.ordered()) {
		if len(rows) == 0 {
			return "same, empty", ""
		}
		return "same", ""
	}
	for _, set := range []string{"PRAGMA disable_optimizer", "PRAGMA enable_optimizer"} {
		if err := b.d.drain(set); err != nil {
			return "duckdb fails", err.Error()
		}
		if plain, err := b.d.rows(sql); err == nil {
			if diff, _ := sameRows(rows, plain); diff == "" {
				return "duckdb disagrees with itself", ""
			}
		}
	}
	return "different", fmt.Sprintf("%s\nkelpie:\n%sduckdb:\n%s", diff, someRows(rows), someRows(want))
}
