package session

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

const testdata = "../../testdata"

// suiteQueries are the names of a benchmark's queries in their usual order.
func suiteQueries(suite string) []string {
	if suite == "ssb" {
		return strings.Fields("q1.1 q1.2 q1.3 q2.1 q2.2 q2.3 q3.1 q3.2 q3.3 q3.4 q4.1 q4.2 q4.3")
	}
	var out []string
	for i := 1; i <= 22; i++ {
		out = append(out, "q"+strconv.Itoa(i))
	}
	return out
}

func queryText(t testing.TB, suite, q string) string {
	b, err := os.ReadFile(filepath.Join("../../gen", suite, "queries", q+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answer reads an answer file: cells separated by |, a header line.
func answer(t testing.TB, suite, sf, q string) [][]string {
	f, err := os.Open(filepath.Join(testdata, "answers", suite, "sf"+sf, q+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '|'
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	if len(rows) == 0 { // one row with one NULL is an empty line, which the reader leaves out
		if b, _ := os.ReadFile(f.Name()); strings.Count(string(b), "\n") == 2 {
			rows = [][]string{{""}}
		}
	}
	return rows
}

// sameCell compares exactly, except for doubles: to 1e-9; and for averages and quotients of decimals,
// which the answers have as doubles: to 1e-14 of their size, which is what doubles are good for.
func sameCell(v types.Value, want string) bool {
	if v.Null {
		return want == ""
	}
	if v.Type.Kind == types.Decimal && v.Type.Scale >= 16 {
		w, err := strconv.ParseFloat(want, 64)
		return err == nil && math.Abs(v.Float()-w) <= 1e-14*math.Max(math.Abs(w), 1)
	}
	if v.Type.IsFloat() {
		w, err := strconv.ParseFloat(want, 64)
		return err == nil && math.Abs(v.F-w) <= 1e-9*math.Max(math.Abs(w), 1)
	}
	return v.String() == want
}

func checkAnswer(t testing.TB, s *Session, suite, sf, q string) {
	t.Helper()
	sameAnswer(t, s, suite, sf, q, queryText(t, suite, q))
}

// sameAnswer holds a text that asks for what a query of a benchmark does to that one's answer.
func sameAnswer(t testing.TB, s *Session, suite, sf, q, text string, args ...types.Value) {
	t.Helper()
	res, err := s.Query(context.Background(), text, args...)
	if err != nil {
		t.Errorf("%s %s: %s", suite, q, diag.Format(err, text))
		return
	}
	defer res.Close()
	got, want := res.Values(), answer(t, suite, sf, q)
	if len(got) != len(want) {
		t.Errorf("%s %s: %d rows, want %d", suite, q, len(got), len(want))
		return
	}
	for i := range want {
		for k := range want[i] {
			if !sameCell(got[i][k], want[i][k]) {
				t.Errorf("%s %s: row %d column %d is %s, want %s", suite, q, i+1, k+1, got[i][k], want[i][k])
				return
			}
		}
	}
}

// load generates a benchmark's tables in a session of its own.
func load(t testing.TB, suite, sf string) *Session {
	t.Helper()
	s := New(NewDB())
	loadInto(t, s, suite, sf)
	return s
}

func loadInto(t testing.TB, s *Session, suite, sf string) {
	t.Helper()
	if _, err := s.Query(context.Background(), fmt.Sprintf("CALL %s(sf => %s)", suite, sf)); err != nil {
		t.Fatal(err)
	}
}

// TestAnswers holds every query of both benchmarks to the reference answers.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ suite, sf string }{{"tpch", "0.01"}, {"ssb", "0.01"}, {"tpch", "0.1"}, {"tpch", "1"}, {"ssb", "1"}} {
		t.Run(c.suite+" sf"+c.sf, func(t *testing.T) {
			if c.sf != "0.01" && testing.Short() {
				t.Skip("larger data: not with -short")
			}
			if c.sf == "1" && os.Getenv("KELPIE_TEST_SF1") == "" {
				t.Skip("set KELPIE_TEST_SF1=1")
			}
			s := load(t, c.suite, c.sf)
			s.Configure(func(x *Settings) { x.Check = c.sf == "0.01" })
			for _, q := range suiteQueries(c.suite) {
				checkAnswer(t, s, c.suite, c.sf, q)
			}
		})
	}
}
