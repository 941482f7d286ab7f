package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/funcs/trial"
	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestRandomCalls compares calls of functions, made at random from the registry and the values of package trial, with
// PostgreSQL's: values, and SQLSTATEs of those that fail. BENCH_SEED (or fresh) and BENCH_COUNT choose which.
func TestRandomCalls(t *testing.T) {
	seed, count := uint64(1), 2000
	if s := os.Getenv("BENCH_SEED"); s == "fresh" {
		seed = uint64(time.Now().UnixNano()) % 1e12
	} else if s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("BENCH_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	d := Open(t)
	s := session.New(session.NewDB())
	if _, err := kelpieCells(s, "set timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	rows := sharedRows(t)
	var tally Tally
	for i := range count {
		g := &callGen{r: rand.New(rand.NewPCG(seed+uint64(i), 7)), rows: rows}
		sql := g.query()
		verdict, detail := compareCall(d, s, sql, g.inners)
		switch {
		case detail != "":
			tally.Differs()
		case verdict == "same":
			tally.Same()
		case verdict == "both fail":
			tally.Failed()
		default:
			tally.Skip(verdict)
		}
		if detail != "" {
			t.Errorf("BENCH_SEED=%d BENCH_COUNT=1: %s\n%s\n%s", seed+uint64(i), verdict, sql, detail)
		}
	}
	t.Logf("calls, seeds %d to %d: %v", seed, seed+uint64(count)-1, &tally)
	if count > 100 && tally.Compared() < count/2 {
		t.Errorf("only %d of %d calls could be compared", tally.Compared(), count)
	}
}

// sharedRows are the rows of the registry that PostgreSQL has, too: those with a line that it confirmed.
func sharedRows(t *testing.T) []*funcs.Row {
	table, err := trial.Read("../../internal/session/testdata/function_table.txt")
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]bool{}
	for _, s := range table.Sections {
		for _, l := range s.Lines {
			shared[s.Signature] = shared[s.Signature] || l.Source == "pg" && !strings.HasPrefix(l.Answer, "error")
		}
	}
	var rows []*funcs.Row
	for i := range funcs.Rows {
		if r := &funcs.Rows[i]; shared[r.Signature()] && trial.Untried(r) == "" {
			rows = append(rows, r)
		}
	}
	return rows
}

// callGen writes calls.
type callGen struct {
	r      *rand.Rand
	rows   []*funcs.Row
	inners []string // the calls that are arguments of others
}

// query asks for one call: of constants, or of columns that have these values in one row, before and after a row of NULLs.
func (g *callGen) query() string {
	row := g.rows[g.r.IntN(len(g.rows))]
	args := g.args(row, 2)
	if g.r.IntN(3) > 0 || len(args) == 0 {
		return "select " + trial.Text(row, args)
	}
	names, columns := make([]string, len(args)), make([]string, len(args))
	for p, a := range args {
		names[p] = fmt.Sprintf("c%d", p)
		columns[p] = a + " as " + names[p]
	}
	return fmt.Sprintf("select %s from (select %s from generate_series(1, 3) where generate_series %% 2 = 1) x", trial.Text(row, names), strings.Join(columns, ", "))
}

// args are values for the parameters of a row; with depth left, some are calls themselves.
func (g *callGen) args(row *funcs.Row, depth int) []string {
	letters, least := trial.Letters(row)
	n := least
	if len(letters) > least {
		n += g.r.IntN(len(letters) - least + 1)
	}
	args := make([]string, n)
	for p := range args {
		args[p] = g.arg(row, letters[p], p, depth)
	}
	return args
}

func (g *callGen) arg(row *funcs.Row, letter byte, p, depth int) string {
	if m := trial.Meant(row, p); m != nil && (g.r.IntN(10) > 0 || row.Name == "generate_series") { // other series have no end
		return m[g.r.IntN(len(m))]
	}
	if depth > 0 && g.r.IntN(6) == 0 {
		if inner := g.inner(letter); inner != nil {
			text := "(" + trial.Text(inner, g.args(inner, depth-1)) + ")"
			g.inners = append(g.inners, text)
			return text
		}
	}
	// Half of the values are as usual, so that not all calls fail.
	class := trial.Plain
	if g.r.IntN(2) == 0 {
		class = trial.Class(g.r.IntN(int(trial.Plain)))
	}
	of := trial.Values[letter][class]
	if of == nil {
		of = trial.Values[letter][trial.Plain]
	}
	value := trial.Fitting(row, of[g.r.IntN(len(of))])
	if strings.HasPrefix(row.Name, "date_trunc") && strings.HasPrefix(value, "date ") {
		return "timestamp " + value[len("date "):] // of a date it is a TIMESTAMP here, and a TIMESTAMPTZ there
	}
	return value
}

// inner is a row whose result a parameter takes; nil if chance does not find one.
func (g *callGen) inner(letter byte) *funcs.Row {
	want := map[byte]types.Kind{'t': types.Text, 'i': types.Int32, 'e': types.Int32, 'b': types.Bool, 'T': types.Timestamp, 'V': types.Interval}
	for range 40 {
		if row := g.rows[g.r.IntN(len(g.rows))]; want[letter] != 0 && row.Result.Kind == want[letter] && !row.Operator() && row.Name != "convert_from" { // whose texts have PostgreSQL's collation C
			return row
		}
	}
	return nil
}

// compareCall asks both: detail is not empty if they differ. Whatever is not compared is a difference that we want, or one that SQL leaves open;
// inners are the calls that are arguments in it.
func compareCall(d *DB, s *session.Session, sql string, inners []string) (verdict, detail string) {
	rows, err := kelpieCells(s, sql)
	want, pgErr := d.Cells(sql)
	own, code := diag.CodeOf(err), Code(pgErr)
	switch {
	case err != nil && own == diag.InternalError:
		return "internal error", diag.Format(err, sql)
	case err != nil && pgErr != nil && own == code:
		return "both fail", ""
	case code == "42883" || code == "42725": // such as BIGINT for a parameter that is an INTEGER there
		return "postgres has no such overload", ""
	case own == diag.FeatureNotSupported:
		return "kelpie: " + err.Error(), ""
	case code == "22P02" && strings.Contains(sql, `encode('\'`):
		return "a text that is no bytea", ""
	case code == diag.DatetimeOverflow && strings.Contains(sql, "date '5874897-12-31'"):
		return "the date was made no timestamp, which cannot be so late", ""
	case own == diag.DatetimeOverflow && strings.Contains(err.Error(), "interval out of range") && strings.Contains(sql, "make_interval"):
		return "make_interval, which wraps around before version 17", ""
	case own == diag.DatetimeOverflow && strings.Contains(trial.Answer(want, ""), "infinity"):
		return "there are no infinite times", ""
	case strings.Contains(sql, "timezone(") && strings.Contains(sql, "interval '-2562047788:00:54.775807'"):
		return "so many hours from UTC wrap around in postgres", ""
	case err != nil && strings.Contains(err.Error(), "not recognized for type") && allNull(want):
		return "an unknown field is an error for NULL as well", ""
	case own == diag.InvalidEscapeSequence && pgErr == nil, err == nil && allNull(rows) && code == diag.InvalidEscapeSequence:
		return "a bad escape that is not reached", ""
	case own == diag.NumericOutOfRange && longNumber(want):
		return "more than 38 digits", ""
	case err == nil && pgErr == nil && strings.Contains(sql, "right(") && strings.Contains(sql, "'-2147483648'::int") && allEmpty(rows):
		return "right(s, -2147483648), of which postgres takes all", ""
	case err == nil && pgErr != nil && oneFails(d, s, inners, code), err != nil && pgErr != nil && oneFails(d, s, inners, code, own):
		return "the order in which arguments are computed", "" // of a strict function NULL does without the others
	case err != nil && pgErr != nil:
		return "other error", fmt.Sprintf("kelpie: %s\npostgres: %v", diag.Format(err, sql), pgErr)
	case err != nil:
		return "kelpie fails", diag.Format(err, sql) + "\npostgres: " + trial.Answer(want, "")
	case pgErr != nil:
		return "postgres fails", "kelpie: " + trial.Answer(rows, "") + "\npostgres: " + pgErr.Error()
	}
	r := &corpus.Record{Query: true, Rounded: true}
	for _, row := range rows {
		r.Rows = append(r.Rows, corpus.RowText(row))
	}
	if diff := r.Diff(want, true); diff != "" {
		return "different", "postgres: " + diff
	}
	return "same", ""
}

// oneFails reports that one of some calls, by itself, fails on both engines with the SQLSTATE that PostgreSQL or Kelpie gave for all of them.
func oneFails(d *DB, s *session.Session, calls []string, codes ...string) bool {
	return slices.ContainsFunc(calls, func(c string) bool {
		_, err := kelpieCells(s, "select "+c)
		_, pgErr := d.Cells("select " + c)
		return err != nil && diag.CodeOf(err) == Code(pgErr) && slices.Contains(codes, Code(pgErr))
	})
}

// allNull reports rows of NULLs, allEmpty of empty texts.
func allNull(rows [][]corpus.Cell) bool {
	return all(rows, func(c corpus.Cell) bool { return c.Null })
}
func allEmpty(rows [][]corpus.Cell) bool {
	return all(rows, func(c corpus.Cell) bool { return !c.Null && c.Text == "" })
}

func all(rows [][]corpus.Cell, is func(corpus.Cell) bool) bool {
	for _, row := range rows {
		for _, c := range row {
			if !is(c) {
				return false
			}
		}
	}
	return len(rows) > 0
}

// longNumber reports a number of more digits than Kelpie has.
func longNumber(rows [][]corpus.Cell) bool {
	for _, r := range rows {
		for _, c := range r {
			if c.Kind == corpus.Exact && len(strings.Trim(c.Text, "-.")) > types.MaxPrecision {
				return true
			}
		}
	}
	return false
}

// kelpieCells runs a statement on Kelpie.
func kelpieCells(s *session.Session, sql string) ([][]corpus.Cell, error) {
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows [][]corpus.Cell
	for _, row := range res.Values() {
		cells := make([]corpus.Cell, len(row))
		for i, v := range row {
			cells[i] = corpus.Cell{Null: v.Null, Text: string(v.AppendTextIn(nil, types.UTC))}
		}
		rows = append(rows, cells)
	}
	return rows, nil
}
