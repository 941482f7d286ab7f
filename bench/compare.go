package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// sameRows compares two results. They agree when row i of one is row i of the other; failing that,
// in any order (ORDER BY leaves ties open), which inOrder tells. A difference is described in diff.
func sameRows(a, b [][]types.Value) (diff string, inOrder bool) {
	if len(a) != len(b) {
		return fmt.Sprintf("%d rows against %d", len(a), len(b)), false
	}
	first := -1
	for i := range a {
		if !sameRow(a[i], b[i]) {
			first = i
			break
		}
	}
	if first < 0 {
		return "", true
	}
	// Rows are sorted by their rounded texts, then paired. Doubles that differ in the last digits
	// may sort differently, so a row looks for its partner among its neighbours as well.
	sa, sb := sorted(a), sorted(b)
	taken := make([]bool, len(sb))
	for i, r := range sa {
		at := -1
		for _, k := range near(i, len(sb)) {
			if !taken[k] && sameRow(r, sb[k]) {
				at = k
				break
			}
		}
		if at < 0 {
			return fmt.Sprintf("row %d is %s against %s", first+1, rowText(a[first]), rowText(b[first])), false
		}
		taken[at] = true
	}
	return "", false
}

// near lists i and up to 8 places to each side of it.
func near(i, n int) []int {
	out := []int{i}
	for d := 1; d <= 8; d++ {
		if i-d >= 0 {
			out = append(out, i-d)
		}
		if i+d < n {
			out = append(out, i+d)
		}
	}
	return out
}

func sorted(rows [][]types.Value) [][]types.Value {
	keys := make([]string, len(rows))
	order := make([]int, len(rows))
	for i, r := range rows {
		var s strings.Builder
		for _, v := range r {
			s.WriteString(sortText(v))
			s.WriteByte(0)
		}
		for _, v := range r { // what rounding made equal
			if !v.Null && v.Type.IsNumeric() && !v.Type.IsFloat() {
				s.WriteString(exact(v).RatString())
				s.WriteByte(0)
			}
		}
		keys[i], order[i] = s.String(), i
	}
	slices.SortFunc(order, func(x, y int) int { return strings.Compare(keys[x], keys[y]) })
	out := make([][]types.Value, len(rows))
	for i, k := range order {
		out[i] = rows[k]
	}
	return out
}

// sortText is a text by which equal numbers sort to the same place, whatever their types.
func sortText(v types.Value) string {
	if !v.Null && v.Type.Kind == types.Interval {
		return fmt.Sprint(types.IntervalKey(v.IntervalParts()))
	}
	if v.Null || !v.Type.IsNumeric() {
		return v.String()
	}
	return strconv.FormatFloat(number(v)+0, 'e', 6, 64) // -0 is 0
}

func sameRow(a, b []types.Value) bool {
	return slices.EqualFunc(a, b, sameCell)
}

// sameCell compares exactly, doubles to 1e-9 relative. The types may differ within a family: how
// wide an integer is, or what scale a decimal has, is not compared here.
func sameCell(a, b types.Value) bool {
	switch {
	case a.Null || b.Null:
		return a.Null && b.Null
	case a.Type.IsNumeric() && b.Type.IsNumeric():
		if !a.Type.IsFloat() && !b.Type.IsFloat() {
			return exact(a).Cmp(exact(b)) == 0
		}
		tol := 1e-9
		if a.Type.Kind == types.Float32 || b.Type.Kind == types.Float32 {
			tol = 1e-6
		}
		x, y := number(a), number(b)
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= tol*max(math.Abs(x), math.Abs(y))
	case a.Type.Kind == types.Interval && b.Type.Kind == types.Interval: // of those that are equal a group shows any
		return types.IntervalKey(a.IntervalParts()) == types.IntervalKey(b.IntervalParts())
	case a.Type.Kind == types.Timestamp && b.Type.Kind == types.Timestamp, a.Type.Kind == types.Date && b.Type.Kind == types.Date:
		return a.I == b.I
	}
	if b.Type.Kind == types.Text && (a.Type.Kind == types.List || a.Type.Kind == types.TimestampTZ || a.Type.Kind == types.JSON || a.Type.Kind == types.Enum) {
		return a.String() == b.S // types that the other engine gives as texts
	}
	return a.Type.Kind == b.Type.Kind && a.String() == b.String()
}

// exact is an integer or decimal as a fraction.
func exact(v types.Value) *big.Rat {
	scale := 0
	if v.Type.Kind == types.Decimal {
		scale = int(v.Type.Scale)
	}
	x := v.Int128()
	n := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	n.Add(n, new(big.Int).SetUint64(x.Lo))
	return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
}

// number is any number as a double.
func number(v types.Value) float64 {
	if v.Type.IsFloat() {
		return v.F
	}
	f, _ := exact(v).Float64()
	return f
}

func rowText(r []types.Value) string {
	cells := make([]string, len(r))
	for i, v := range r {
		cells[i] = v.Literal()
	}
	return "(" + strings.Join(cells, ", ") + ")"
}
