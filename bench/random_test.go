package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/bench/postgres"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// randomSeeds are the first seed and the number of statements: BENCH_SEED, which may be fresh, and BENCH_COUNT.
func randomSeeds(t *testing.T, count int) (uint64, int) {
	seed := uint64(1)
	if s := os.Getenv("BENCH_SEED"); s == "fresh" {
		seed = uint64(time.Now().UnixNano()) % 1e12
		t.Logf("BENCH_SEED=%d", seed)
	} else if s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("BENCH_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	return seed, count
}

// randomStatement writes the statement of a sequence of choices.
func randomStatement(c *choices) string {
	g := &sqlGen{r: c, nested: nestedValues}
	g.budget = 5 + g.few(40)
	if g.nested && g.chance(8) {
		return g.script()
	}
	return g.top()
}

// TestRandomStatements runs queries and changes made at random on all engines. BENCH_SEED and BENCH_COUNT choose
// which; a failure prints the query, the seed that makes it again, and the shortest query found that fails alike.
// Long runs have several workers, so that Kelpie computes while PostgreSQL plans.
func TestRandomStatements(t *testing.T) {
	seed, count := randomSeeds(t, 400)
	workers := min(4, 1+count/1000)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // each statement compiles four times and keeps nothing
	var (
		tally   postgres.Tally
		mu      sync.Mutex // tally's
		next    atomic.Int64
		running sync.WaitGroup
		start   = time.Now()
		all     []*both
	)
	for range workers {
		b := openBoth(t)
		all = append(all, b)
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				verdict, failure := b.random(seed + uint64(i))
				mu.Lock()
				tally.Count(verdict, failure != "")
				mu.Unlock()
				if failure != "" {
					t.Error(failure)
				}
				if (i+1)%5000 == 0 {
					t.Logf("%d statements after %.0f s", i+1, time.Since(start).Seconds())
				}
			}
		})
	}
	running.Wait()
	var ours, theirs time.Duration
	for _, b := range all {
		ours, theirs = ours+b.ours, theirs+b.theirs
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(count) }
	t.Logf("statements, seeds %d to %d, %d workers, %.1f ms each (kelpie %.1f, postgres %.1f): %v", seed, seed+uint64(count)-1, workers, each(time.Since(start)), each(ours), each(theirs), &tally)
	if tally.Compared() < count/2 && count > 10 {
		t.Errorf("only %d of %d queries could be compared", tally.Compared(), count)
	}
}

// random compares the statement of a seed; failure is what a person has to look at.
func (b *both) random(seed uint64) (verdict, failure string) {
	c := newChoices(seed)
	sql := randomStatement(c)
	verdict, detail := b.compare(sql)
	if detail == "" {
		return verdict, ""
	}
	small := reduce(c.out, randomStatement, func(sql string) bool {
		v, detail := b.compare(sql)
		return v == verdict && detail != ""
	}, 20*time.Second)
	_, smallDetail := b.compare(small)
	return verdict, fmt.Sprintf("BENCH_SEED=%d BENCH_COUNT=1: %s\n%s\n%s\nreduced:\n%s\n%s", seed, verdict, sql, detail, small, smallDetail)
}

// hideConstants makes constant keys of groups (see constantKey) into something that PostgreSQL does not know to be
// constant: version 15 forgets in several places, such as an arm of UNION, that they are NULL above their group.
var hideConstants = strings.NewReplacer("(1 + 1)", "(1 + opaque(1))", "nullif(3, 3)", "nullif(opaque(3), 3)", "coalesce(5,", "coalesce(opaque(5),",
	"('a' || 'b')", "('a' || opaque('b'::text))", "nullif('a', 'a')", "nullif(opaque('a'::text), 'a')", "coalesce('k',", "coalesce(opaque('k'::text),",
	"(date '2020-01-01' + 1)", "(date '2020-01-01' + opaque(1))", "coalesce(date '2020-02-29',", "coalesce(opaque(date '2020-02-29'),",
	"(1 = 1)", "(opaque(1) = 1)")

// groupingSets finds them; foldable what PostgreSQL computes while it plans, if nothing else is with it.
var (
	groupingSets = regexp.MustCompile(`group by .*(rollup|cube|grouping sets) \(`)
	foldable     = regexp.MustCompile(`\b(timestamptz|timestamp|date) '[^']*'|\bnull::[a-z]+|-?\b[0-9.e]+::(double precision|bigint|decimal\([0-9]+,[0-9]+\))|\b[0-9]+ (=|<>|<=|>=|<|>) [0-9]+\b`)
)

// sameRowsIfHidden reports that PostgreSQL gives these rows once all its constants look as if they were none.
func (b *both) sameRowsIfHidden(rows [][]types.Value, sql string) bool {
	want, err := inTransaction(foldable.ReplaceAllString(hideConstants.Replace(sql), "opaque($0)"), b.pg.Rows)
	if err != nil {
		return false
	}
	diff, _ := sameRows(rows, want)
	return diff == ""
}

// tooLarge: numbers or dates are out of range.
func tooLarge(code string) bool {
	return code == diag.NumericOutOfRange || code == diag.DatetimeOverflow
}

const opaque = "create function opaque(x anyelement) returns anyelement language plpgsql stable as 'begin return x; end'"

// compare runs a query on all engines: verdict names the outcome, detail is not empty if Kelpie is to be
// suspected. PostgreSQL has the last word, if there is one; else, where DuckDB without its optimizer disagrees with
// itself, it is the suspect.
func (b *both) compare(sql string) (verdict, detail string) {
	ordered := !isScript(sql) && statement{kelpie: sql}.ordered()
	start := time.Now()
	rows, err := b.kelpieRows(sql, ordered)
	b.ours += time.Since(start)
	var bug *diag.Internal
	switch {
	case errors.As(err, &bug):
		return "internal error", errorText(err, sql)
	case err != nil && diag.CodeOf(err) == diag.FeatureNotSupported:
		return "kelpie: " + err.Error(), ""
	case diag.CodeOf(err) == diag.OutOfMemory || diag.CodeOf(err) == diag.QueryCanceled:
		return "too large", ""
	}
	if b.pg != nil {
		start = time.Now()
		want, pgErr := inTransaction(hideConstants.Replace(sql), b.pg.Rows)
		b.theirs += time.Since(start)
		switch code := postgres.Code(pgErr); {
		case code == diag.QueryCanceled || code == diag.OutOfMemory:
			return "too large", ""
		case code == diag.InternalError: // its planner finds no order of some lateral and full joins
			return "postgres: an internal error", ""
		case code == diag.FeatureNotSupported && nestedValues:
			return pgErr.Error(), ""
		case code == diag.FeatureNotSupported: // DuckDB is asked below
		case code == "42725" || code == "42883":
			return "postgres has no such overload", ""
		case code == diag.SyntaxError:
			return "the generator's mistake", pgErr.Error()
		case pgErr != nil && err != nil && diag.CodeOf(err) == code:
			return "both fail: " + code, ""
		case err != nil && tooLarge(diag.CodeOf(err)):
			return "kelpie overflows", "" // the order of evaluation is open
		case tooLarge(code):
			return "postgres overflows", ""
		case err != nil:
			return "kelpie fails: " + diag.CodeOf(err), fmt.Sprintf("%s\npostgres: %v", errorText(err, sql), pgErr)
		case pgErr != nil:
			return "postgres fails: " + code, "postgres: " + pgErr.Error()
		default:
			if diff, inOrder := sameRows(rows, want); diff != "" || ordered && !inOrder {
				if groupingSets.MatchString(sql) && b.sameRowsIfHidden(rows, sql) {
					return "postgres disagrees with itself about a key of grouping sets that it can compute", ""
				}
				return "different from postgres", fmt.Sprintf("%s\nkelpie:\n%spostgres:\n%s", diff, someRows(rows), someRows(want))
			}
			if len(rows) == 0 {
				return "same, empty", ""
			}
			return "same", ""
		}
	}
	if strings.Contains(sql, "with recursive") || nestedValues {
		return "duckdb is not asked", "" // its rows of some recursive queries are not PostgreSQL's, nor are its functions and types
	}
	want, duckErr := b.d.rows(sql)
	switch {
	case duckErr != nil && (strings.Contains(duckErr.Error(), "Not implemented") || strings.Contains(duckErr.Error(), "Invalid Error") ||
		strings.Contains(duckErr.Error(), "INTERNAL") || strings.Contains(duckErr.Error(), "non-inner LATERAL") || strings.Contains(duckErr.Error(), "is already defined")): // windows of two arms of UNION
		return "duckdb does not support it", ""
	case duckErr != nil && err != nil:
		return "both fail: " + diag.CodeOf(err), ""
	case err != nil && diag.CodeOf(err) == diag.NumericOutOfRange:
		return "kelpie overflows", "" // the order of evaluation is open
	case err != nil:
		return "kelpie fails: " + diag.CodeOf(err), errorText(err, sql)
	case duckErr != nil:
		return "duckdb fails", "duckdb: " + duckErr.Error()
	}
	diff, inOrder := sameRows(rows, want)
	if diff == "" && (inOrder || !ordered) {
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
	return "different from duckdb", fmt.Sprintf("%s\nkelpie:\n%sduckdb:\n%s", diff, someRows(rows), someRows(want))
}
