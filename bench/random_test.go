package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
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
	return g.top()
}

// TestRandomStatements runs queries made at random on all engines. BENCH_SEED and BENCH_COUNT choose
// which; a failure prints the query, the seed that makes it again, and the shortest query found that fails alike.
func TestRandomStatements(t *testing.T) {
	seed, count := randomSeeds(t, 400)
	b := openBoth(t)
	var tally postgres.Tally
	for i := range count {
		c := newChoices(seed + uint64(i))
		sql := randomStatement(c)
		start := time.Now()
		verdict, detail := b.compare(sql)
		if took := time.Since(start); took > 2*time.Second {
			t.Logf("seed %d took %.1f s", seed+uint64(i), took.Seconds())
		}
		switch {
		case detail != "":
			tally.Differs()
		case strings.HasPrefix(verdict, "same"):
			tally.Same()
		case strings.HasPrefix(verdict, "both fail"):
			tally.Failed()
		default:
			tally.Skip(verdict)
		}
		if detail == "" {
			continue
		}
		small := reduce(c.out, randomStatement, func(sql string) bool {
			v, detail := b.compare(sql)
			return v == verdict && detail != ""
		}, 20*time.Second)
		_, smallDetail := b.compare(small)
		t.Errorf("BENCH_SEED=%d BENCH_COUNT=1: %s\n%s\n%s\nreduced:\n%s\n%s", seed+uint64(i), verdict, sql, detail, small, smallDetail)
	}
	t.Logf("statements, seeds %d to %d: %v", seed, seed+uint64(count)-1, &tally)
	if tally.Compared() < count/2 && count > 10 {
		t.Errorf("only %d of %d queries could be compared", tally.Compared(), count)
	}
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
	foldable     = regexp.MustCompile(`\b(timestamptz|timestamp|date) '[^']*'|-?\b[0-9.e]+::(double precision|bigint|decimal\([0-9]+,[0-9]+\))|\b[0-9]+ (=|<>|<=|>=|<|>) [0-9]+\b`)
)

// sameRowsIfHidden reports that PostgreSQL gives these rows once all its constants look as if they were none.
func (b *both) sameRowsIfHidden(rows [][]types.Value, sql string) bool {
	want, err := b.pg.Rows(foldable.ReplaceAllString(hideConstants.Replace(sql), "opaque($0)"))
	if err != nil {
		return false
	}
	diff, _ := sameRows(rows, want)
	return diff == ""
}

const opaque = "create function opaque(x anyelement) returns anyelement language plpgsql stable as 'begin return x; end'"

// compare runs a query on all engines: verdict names the outcome, detail is not empty if Kelpie is to be
// suspected. PostgreSQL has the last word, if there is one; else, where DuckDB without its optimizer disagrees with
// itself, it is the suspect.
func (b *both) compare(sql string) (verdict, detail string) {
	s := statement{kelpie: sql}
	rows, err := b.kelpieRows(sql, s.ordered())
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
		want, pgErr := b.pg.Rows(hideConstants.Replace(sql))
		switch code := postgres.Code(pgErr); {
		case code == diag.QueryCanceled || code == diag.OutOfMemory:
			return "too large", ""
		case code == diag.InternalError: // its planner finds no order of some lateral and full joins
			return "postgres: an internal error", ""
		case code == diag.FeatureNotSupported && nestedValues:
			return pgErr.Error(), ""
		case code == diag.FeatureNotSupported: // DuckDB is asked below
		case err == nil && (code == "42725" || code == "42883"):
			return "postgres has no such overload", ""
		case pgErr != nil && err != nil && diag.CodeOf(err) == code:
			return "both fail: " + code, ""
		case err != nil && diag.CodeOf(err) == diag.NumericOutOfRange:
			return "kelpie overflows", "" // the order of evaluation is open
		case code == diag.NumericOutOfRange:
			return "postgres overflows", ""
		case err != nil:
			return "kelpie fails: " + diag.CodeOf(err), fmt.Sprintf("%s\npostgres: %v", errorText(err, sql), pgErr)
		case pgErr != nil:
			return "postgres fails: " + code, "postgres: " + pgErr.Error()
		default:
			if diff, inOrder := sameRows(rows, want); diff != "" || s.ordered() && !inOrder {
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
		strings.Contains(duckErr.Error(), "INTERNAL") || strings.Contains(duckErr.Error(), "non-inner LATERAL")):
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
	return "different from duckdb", fmt.Sprintf("%s\nkelpie:\n%sduckdb:\n%s", diff, someRows(rows), someRows(want))
}
