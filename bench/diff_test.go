package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/bench/postgres"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// both is one set of tables in both engines, and in a PostgreSQL if KELPIE_PG says where one is, with DuckDB set to PostgreSQL's ways where it has a
// setting for them. Kelpie has the tables twice: as it likes to store them, and plainly.
type both struct {
	k       *kelpie
	plain   *kelpie
	d       *duck
	pg      *postgres.DB // nil if there is none
	missing []string     // what Kelpie does not support yet
	// How long Kelpie (in all shapes) and PostgreSQL took for random statements.
	ours, theirs time.Duration
}

func openBoth(t testing.TB) *both {
	t.Helper()
	d, err := openDuck()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	b := &both{k: openKelpie(), plain: openKelpie(), d: d}
	must := func(e engine, sql string) {
		t.Helper()
		if err := e.drain(sql); err != nil {
			t.Fatalf("%s: %v\n%.200s", e.name(), err, sql)
		}
	}
	must(d, "SET integer_division = true")
	must(d, "SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
	must(d, "SET threads = 2")
	for _, e := range []engine{d, b.k, b.plain} { // random statements can grow without bound
		must(e, "SET memory_limit = '512MB'")
	}
	must(b.plain, "SET dictionaries = off; SET narrow_integers = off")
	if os.Getenv("KELPIE_PG") != "" {
		b.pg = postgres.Open(t)
		if err := b.pg.Run(opaque); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range tables() {
		if b.pg != nil {
			if err := b.pg.Run(sql); err != nil {
				t.Fatalf("postgres: %v\n%.200s", err, sql)
			}
		}
		must(b.k, sql)
		must(b.plain, sql)
		must(d, sql)
	}
	if b.pg != nil {
		for _, sql := range nestedTables {
			if err := b.pg.Run(sql); err != nil {
				t.Fatalf("postgres: %v\n%.200s", err, sql)
			}
			must(b.k, sql)
			must(b.plain, sql)
		}
		// Plans for tables of which it knows nothing take many times as long, and queries that are slow even so are not worth the wait.
		if err := b.pg.Run("analyze; set statement_timeout = '1s'"); err != nil {
			t.Fatal(err)
		}
	}
	must(b.k, "SET check = on")
	must(b.plain, "SET check = on")
	return b
}

// shapes are the ways in which Kelpie runs every statement; the rows must not depend on them.
var shapes = []struct {
	threads, morsel int
	plain           bool   // tables without dictionaries and narrow integers
	disabled        string // optimizer passes
	device          string
}{
	{threads: 1},
	{threads: 2, morsel: 7},
	{threads: 4, morsel: 1, plain: true},
	{threads: 2, morsel: 64, disabled: "fold,inline,groupkeys,sort,joinorder,share,prune,predicates,reduce"},
}

// BENCH_DEVICE=simt runs every statement on the simulated GPU as well, which takes its time.
func init() {
	if d := os.Getenv("BENCH_DEVICE"); d != "" {
		more := shapes[0]
		more.device = d
		shapes = append(shapes, more)
	}
}

// kelpieRows runs a statement in every shape and returns the rows, or the first error or
// disagreement between shapes. ordered says that the rows' order counts.
func (b *both) kelpieRows(sql string, ordered bool) ([][]types.Value, error) {
	var first [][]types.Value
	for i, s := range shapes {
		k := b.k
		if s.plain {
			k = b.plain
		}
		set := fmt.Sprintf("SET threads = %d; SET morsel_rows = %d; SET disabled_optimizers = '%s'", s.threads, s.morsel, s.disabled)
		if len(shapes) > 4 {
			set += "; SET device = " + cmp.Or(s.device, "cpu")
		}
		if err := k.drain(set); err != nil {
			return nil, err
		}
		rows, err := inTransaction(sql, k.rows)
		if err != nil {
			if s.device != "" && diag.CodeOf(err) == diag.FeatureNotSupported {
				continue
			}
			if i > 0 {
				err = fmt.Errorf("%+v: %w", s, err)
			}
			return nil, err
		}
		if i == 0 {
			first = rows
			continue
		}
		if diff, inOrder := sameRows(rows, first); diff != "" || ordered && !inOrder {
			return nil, fmt.Errorf("%+v against %+v: %s%s", s, shapes[0], diff, map[bool]string{true: "the order differs"}[diff == ""])
		}
	}
	return first, nil
}

// statement is one test: a text for Kelpie, another for DuckDB where the dialects differ on
// purpose, and the SQLSTATE that Kelpie must fail with, if it must.
type statement struct {
	at     string
	kelpie string
	duck   string
	code   string
	maybe  bool // Kelpie may still say that it does not support it
}

// ordered says whether the outermost query is sorted: the last ORDER BY is in no parentheses.
func (s statement) ordered() bool {
	i := strings.LastIndex(strings.ToLower(s.kelpie), "order by")
	return i >= 0 && strings.Count(s.kelpie[i:], "(") == strings.Count(s.kelpie[i:], ")")
}

// readStatements reads a file of statements. Each ends with a semicolon at the end of a line. Before it may
// stand "error CODE", for Kelpie alone; "maybe", where Kelpie does not support something yet; or "duck", which
// makes it DuckDB's text of the last one.
func readStatements(path string) ([]statement, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []statement
	var cur strings.Builder
	start := 0
	for n, line := range strings.Split(string(text), "\n") {
		if cur.Len() == 0 {
			if line == "" || strings.HasPrefix(line, "--") {
				continue
			}
			start = n + 1
		}
		cur.WriteString(line)
		if !strings.HasSuffix(line, ";") {
			cur.WriteByte('\n')
			continue
		}
		s := statement{at: fmt.Sprintf("%s:%d", filepath.Base(path), start), kelpie: strings.TrimSuffix(cur.String(), ";")}
		cur.Reset()
		if rest, ok := strings.CutPrefix(s.kelpie, "duck "); ok {
			out[len(out)-1].duck = rest
			continue
		}
		if rest, ok := strings.CutPrefix(s.kelpie, "error "); ok {
			s.code, s.kelpie, _ = strings.Cut(rest, " ")
		}
		s.kelpie, s.maybe = strings.CutPrefix(s.kelpie, "maybe ")
		out = append(out, s)
	}
	if cur.Len() > 0 {
		return nil, fmt.Errorf("%s: no semicolon after %q", path, cur.String())
	}
	return out, nil
}

// check runs a statement on both engines and describes what is wrong, "" if nothing is.
func (b *both) check(s statement) string {
	rows, err := b.kelpieRows(s.kelpie, s.ordered())
	if s.code != "" {
		switch {
		case err == nil:
			return fmt.Sprintf("kelpie gives %d rows, want error %s", len(rows), s.code)
		case diag.CodeOf(err) != s.code:
			return fmt.Sprintf("kelpie: %v, want error %s", err, s.code)
		}
		return ""
	}
	if err != nil {
		if s.maybe && diag.CodeOf(err) == diag.FeatureNotSupported {
			b.missing = append(b.missing, s.at+": "+err.Error())
			return ""
		}
		return "kelpie: " + errorText(err, s.kelpie)
	}
	sql := s.duck
	if sql == "" {
		sql = s.kelpie
	}
	want, err := b.d.rows(sql)
	if err != nil {
		return "duckdb: " + err.Error()
	}
	diff, inOrder := sameRows(rows, want)
	if diff == "" && s.ordered() && !inOrder {
		diff = "the order differs"
	}
	if diff == "" {
		return ""
	}
	return fmt.Sprintf("kelpie against duckdb: %s\nkelpie:\n%sduckdb:\n%s", diff, someRows(rows), someRows(want))
}

// errorText is an error; an internal one in one line, or with BENCH_STACK set with all that is known.
func errorText(err error, sql string) string {
	text := diag.Format(err, sql)
	var bug *diag.Internal
	if errors.As(err, &bug) {
		if os.Getenv("BENCH_STACK") != "" {
			return text + "\n" + string(bug.Stack)
		}
		text, _, _ = strings.Cut(text, "\n") // else the whole listing of a function may follow
	}
	return text
}

func someRows(rows [][]types.Value) string {
	var s strings.Builder
	for i, r := range rows {
		if i == 20 {
			fmt.Fprintf(&s, "  … %d rows\n", len(rows))
			break
		}
		fmt.Fprintf(&s, "  %s\n", rowText(r))
	}
	return s.String()
}

// TestStatements holds Kelpie to DuckDB's rows for every statement in testdata. BENCH_SQL names
// another file to run instead.
func TestStatements(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if own := os.Getenv("BENCH_SQL"); own != "" {
		files = []string{own}
	}
	b := openBoth(t)
	n := 0
	for _, f := range files {
		list, err := readStatements(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			n++
			if wrong := b.check(s); wrong != "" {
				t.Errorf("%s: %s\n%s", s.at, s.kelpie, wrong)
			}
		}
	}
	t.Logf("%d statements; not supported yet:\n%s", n, strings.Join(b.missing, "\n"))
}
