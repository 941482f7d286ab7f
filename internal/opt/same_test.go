package opt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// randomData fills the small tables: few values, many NULLs, keys respected.
func randomData(r *rand.Rand, rows int) map[string][][]types.Value {
	data := map[string][][]types.Value{}
	for name, t := range smallEnv().tables {
		seen := map[string]bool{}
		for range r.IntN(rows + 1) {
			row := make([]types.Value, len(t.Columns))
			for i, c := range t.Columns {
				row[i] = randomValue(r, c.Type, !c.NotNull)
			}
			if len(t.Keys) > 0 {
				var k []types.Value
				for _, o := range t.Keys[0] {
					k = append(k, row[o])
				}
				if seen[rowKey(k)] {
					continue
				}
				seen[rowKey(k)] = true
			}
			data[name] = append(data[name], row)
		}
	}
	return data
}

func randomValue(r *rand.Rand, t types.Type, nulls bool) types.Value {
	if nulls && r.IntN(4) == 0 {
		return types.NullOf(t)
	}
	n := int64(r.IntN(6))
	switch t.Kind {
	case types.Text:
		return types.Value{Type: t, S: []string{"", "a", "ab", "abc", "b", "x"}[n]}
	case types.Float64:
		return types.FloatValue(t, float64(n)/2)
	case types.Decimal:
		return types.DecimalValue(t, types.FromInt64(n*50))
	case types.Bool:
		return types.BoolValue(n%2 == 0)
	case types.Date:
		return types.DateValue(9000 + n)
	}
	return types.IntValue(t, n)
}

// resultText is a result in a form that can be compared; sorted unless the order matters.
func resultText(rows [][]types.Value) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		var parts []string
		for _, v := range r {
			if !v.Null && v.Type.IsFloat() {
				parts = append(parts, fmt.Sprintf("%.6g", v.F))
			} else {
				parts = append(parts, key(v))
			}
		}
		lines[i] = strings.Join(parts, "|")
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// sameResult runs a query as bound and as optimized, under several sets of passes.
func sameResult(t *testing.T, sql string, seeds int) {
	t.Helper()
	variants := []map[string]bool{nil}
	all := map[string]bool{}
	for _, p := range passes {
		if !p.Required {
			variants = append(variants, map[string]bool{p.Name: true})
			all[p.Name] = true
		}
	}
	variants = append(variants, all)
	for vi, disabled := range variants {
		q, err := bound(t, smallEnv(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		original := plan.CopyQuery(q)
		opt, _, err := Optimize(q, Options{Check: true, Disabled: disabled})
		if err != nil {
			t.Errorf("%s: without %v: %v", sql, disabled, err)
			return
		}
		n := seeds
		if vi > 0 {
			n = (seeds + 3) / 4
		}
		for seed := range n {
			data := randomData(rand.New(rand.NewPCG(uint64(seed), 1)), 3+seed*5%11)
			want, err := runPlan(original, data)
			if err != nil {
				continue // where the query fails, any plan may
			}
			got, err := runPlan(opt, data)
			if err != nil {
				t.Errorf("%s: without %v: %v\n%s", sql, disabled, err, plan.Format(opt))
				return
			}
			if a, b := resultText(want), resultText(got); a != b {
				t.Errorf("%s: without %v, seed %d\nwant:\n%s\ngot:\n%s\nplan:\n%s\noriginal:\n%s",
					sql, disabled, seed, a, b, plan.Format(opt), plan.Format(original))
				return
			}
		}
	}
}

// TestSameResult compares results of the queries in testdata/same.sql.
func TestSameResult(t *testing.T) {
	text, err := os.ReadFile("testdata/same.sql")
	if err != nil {
		t.Fatal(err)
	}
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	for _, sql := range strings.Split(string(text), ";") {
		if sql = strings.TrimSpace(uncomment(sql)); sql != "" {
			sameResult(t, sql, seeds)
		}
	}
}
