package session

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestFunctionExamples runs the example of every row of the registry.
func TestFunctionExamples(t *testing.T) {
	s := New(NewDB())
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		x, want, ok := strings.Cut(r.Example, " → ")
		if !ok {
			continue
		}
		if got := oneValue(s, "select "+x); got != want {
			t.Errorf("%s → %s, want %s", x, got, want)
		}
	}
}

// oneValue is the value of a query of one row and column, or its error.
func oneValue(s *Session, text string) string {
	res, err := s.Query(context.Background(), text)
	if err != nil {
		return diag.Format(err, text)
	}
	defer res.Close()
	rows := res.Values()
	if len(rows) != 1 {
		return fmt.Sprint(len(rows), " rows")
	}
	return rows[0][0].String()
}

// TestFunctionReference holds docs/functions.md to the registry; -rewrite writes it.
func TestFunctionReference(t *testing.T) {
	const path = "../../docs/functions.md"
	text := types.TText
	compiled := func(op plan.Op) bool {
		arg := func(t types.Type) plan.Expr { return &plan.Ref{ID: 1, T: t} }
		for _, x := range []*plan.Call{
			plan.NewCall(op, text, arg(text), plan.NewConst(types.TextValue("a")), plan.NewConst(types.TextValue("b"))),
			plan.NewCall(op, types.TFloat64, arg(types.TFloat64), arg(types.TFloat64)),
		} {
			if scalar.CanEmit(x) {
				return true
			}
		}
		return false
	}
	page := funcs.Reference(compiled, bind.Aggregates(), bind.WindowFunctions())
	if *rewrite {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil || string(old) != page {
		t.Errorf("docs/functions.md is not what the registry says (%v): run this test with -rewrite", err)
	}
}

// TestEveryFunctionOnEveryValue calls each function with NULL, the empty, extreme and multi-byte values of its
// types: it answers or fails as a query fails, on rows as on constants, and says NULL to NULL where it is strict.
func TestEveryFunctionOnEveryValue(t *testing.T) {
	values := map[byte][]string{
		't': {"null::text", "''", "'aé日𝄞b'", "'%Y-%m-%d'", "repeat('ab', 500)", "'2024-02-29'", "E'\\\\'", "'('"},
		'i': {"null::bigint", "0", "1", "-1", "9223372036854775807", "(-9223372036854775807 - 1)", "3"},
		'e': {"null::int", "0", "7", "-2147483648", "32767::smallint", "9223372036854775807"},
		'f': {"null::double", "0", "-0.0::double", "0.5", "'nan'::double", "'infinity'::double", "'-infinity'::double", "1e308", "5e-324", "-3"},
		'm': {"null::numeric(10,2)", "0", "-12.50", "99999999999999999999999999999999999999", "0.000001", "7"},
		'n': {"null::int", "0", "-12.50", "1e308", "32767::smallint", "9223372036854775807"},
		'b': {"null::boolean", "true", "false"},
		'D': {"null::date", "date '2024-02-29'", "date '0044-03-15 BC'", "date '5874897-12-31'"},
		'T': {"null::timestamp", "timestamp '2024-02-29 23:59:59.999999'", "timestamp '0044-03-15 12:00:00 BC'", "date '1970-01-01'"},
		'Z': {"null::timestamptz", "timestamptz '2024-02-29 23:59:59.999999+05:30'", "timestamptz '0044-03-15 12:00:00 BC'", "date '1970-01-01'"},
		'B': {"null::bytea", `'\x'::bytea`, `'\x00ff'::bytea`, `'\xc3a9'::bytea`, "repeat('ab', 500)::bytea"},
		'J': {"null::json", "'[1, null, {\"a\": \"é\"}]'::json", "'{\"a\": {\"b\": [1]}}'::jsonb", "'1.5e3'::jsonb", "'null'::json"},
		'X': {"null::text[]", "array[]::text[]", "array['a', 'b']", "array['0', null]"},
		'L': {"null::int[]", "array[]::int[]", "array[1, null, 3]", "array[2147483647]", "array[7, 7]"},
		'E': {"null::int", "0", "7", "-2147483648", "3"},
		'C': {"null::time", "time '00:00'", "time '24:00'", "time '12:34:56.789'"},
		'V': {"null::interval", "interval '1 mon -3 days 04:05:06.789'", "interval '0'", "interval '-178000000 years'"},
		'd': {"null::date", "date '2024-02-29'", "timestamp '0044-03-15 12:00:00 BC'", "interval '1 mon -3 days 04:05:06.789'", "timestamptz '2024-02-29 01:02:03'", "time '01:02:03'"},
		'*': {"null", "''", "'aé日'", "12.5", "true", "date '2024-02-29'"},
	}
	s := New(NewDB())
	calls, failed := 0, 0
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		letters, _, more := r.Params()
		sig := r.Signature()
		if letters == "" || !strings.HasPrefix(sig, r.Name+"(") || r.Name == "position" || r.Name == "error" || strings.HasSuffix(r.Name, "typeof") {
			continue
		}
		if more {
			letters += letters[len(letters)-1:]
		}
		for k := range 12 {
			var args []string
			null := false
			for p := range len(letters) {
				v := values[letters[p]]
				pick := (k*(p+1) + p) % len(v)
				if k < len(v) && p == 0 {
					pick = k
				}
				null = null || strings.HasPrefix(v[pick], "null")
				args = append(args, v[pick])
			}
			constant := oneValue(s, "select "+r.Name+"("+strings.Join(args, ", ")+")")
			// The same values as columns of a row, which Go or generated code computes.
			var names []string
			for p := range args {
				names = append(names, fmt.Sprintf("c%d", p))
			}
			row := "select " + r.Name + "(" + strings.Join(names, ", ") + ") from (select * from (select " + numbered(args) + ") x limit 1) y"
			calls++
			if strings.Contains(constant, "XX000") || strings.Contains(constant, "ERROR") {
				failed++
				if strings.Contains(constant, "XX000") {
					t.Errorf("%s(%s): %s", r.Name, strings.Join(args, ", "), constant)
				}
				continue
			}
			if r.Fn != nil && r.Fn.Strict && null && constant != "NULL" {
				t.Errorf("%s(%s) is %s, want NULL", r.Name, strings.Join(args, ", "), constant)
			}
			if got := oneValue(s, row); got != constant && !strings.Contains(got, "0A000") {
				t.Errorf("%s(%s) is %s of constants and %s of columns", r.Name, strings.Join(args, ", "), constant, got)
			}
		}
	}
	if failed*2 > calls {
		t.Errorf("%d of %d calls fail: the values do not try the functions", failed, calls)
	}
}

func numbered(args []string) string {
	var out []string
	for i, a := range args {
		if a == "null" {
			a = "null::text"
		}
		out = append(out, fmt.Sprintf("%s as c%d", a, i))
	}
	return strings.Join(out, ", ")
}
