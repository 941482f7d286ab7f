package main

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
)

// rowSet is the rows of a result, for comparison with those of another device. Of a very large result only sums of hashes are kept.
type rowSet struct {
	notices string
	ordered bool // the query asks for an order
	rows    []row
	n       int64
	sum     uint64 // of the hashes of a very large result's rows, whatever their order
	chain   uint64 // of the hashes in their order
}

// row is a row's exact values as a text, and its floating-point numbers.
type row struct {
	exact  string
	cells  []string // of exact; floats are empty
	floats []float64
}

// maxRows is how many rows are kept. Tests make it small.
var maxRows int64 = 1 << 18

// tolerance is by how much floating-point numbers may differ, of themselves: sums depend on the order of their parts.
const tolerance = 1e-9

var rowSeed = maphash.MakeSeed()

func (s *rowSet) add(values []any) {
	r := row{cells: make([]string, len(values))}
	for i, v := range values {
		switch x := v.(type) {
		case float32:
			r.floats = append(r.floats, float64(x))
			continue
		case float64:
			r.floats = append(r.floats, x)
			continue
		case nil:
			r.cells[i] = "NULL"
		default:
			r.cells[i] = fmt.Sprintf("%q", fmt.Sprint(x))
		}
	}
	s.n++
	r.exact = strings.Join(r.cells, "|")
	s.rows = append(s.rows, r)
}

// differs says how the rows that came differ from those that were wanted; "": they do not.
func (s *rowSet) differs(got *rowSet) string {
	switch {
	case s.n != got.n:
		return fmt.Sprintf("%d rows, want %d", got.n, s.n)
	case s.n > maxRows:
		if s.sum != got.sum || s.ordered && s.chain != got.chain {
			return fmt.Sprintf("%d rows that differ somewhere", s.n)
		}
		return ""
	}
	if s.ordered {
		if d := s.orderDiffers(got); d != "" {
			return d
		}
	}
	a, b := sortedRows(s.rows), sortedRows(got.rows)
	for i := range a {
		if a[i].exact != b[i].exact || !slices.EqualFunc(a[i].floats, b[i].floats, near) {
			return fmt.Sprintf("got  %s\nwant %s", b[i], a[i])
		}
	}
	return ""
}

// orderDiffers compares, in the order of the rows, the columns whose values only rise or only fall in the rows that were wanted:
// the first key of the order is among them. Rows with equal keys may come in any order.
func (s *rowSet) orderDiffers(got *rowSet) string {
	if len(s.rows) == 0 {
		return ""
	}
	for c := range s.rows[0].cells {
		up, down := true, true
		for i := 1; i < len(s.rows); i++ {
			x, y := s.rows[i-1].cells[c], s.rows[i].cells[c]
			up, down = up && less(x, y) <= 0, down && less(x, y) >= 0
		}
		if !up && !down {
			continue
		}
		for i := range s.rows {
			if x, y := s.rows[i].cells[c], got.rows[i].cells[c]; x != y {
				return fmt.Sprintf("row %d is in another order: %s, want %s", i+1, got.rows[i], s.rows[i])
			}
		}
	}
	return ""
}

// less compares cells, numbers as such.
func less(x, y string) int {
	a, errA := strconv.ParseFloat(strings.Trim(x, `"`), 64)
	b, errB := strconv.ParseFloat(strings.Trim(y, `"`), 64)
	if errA == nil && errB == nil {
		return cmp.Compare(a, b)
	}
	return strings.Compare(x, y)
}

func sortedRows(rows []row) []row {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(a, b row) int {
		if c := strings.Compare(a.exact, b.exact); c != 0 {
			return c
		}
		return slices.Compare(a.floats, b.floats)
	})
	return out
}

// near reports that numbers are the same but for rounding.
func near(a, b float64) bool {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return true
	}
	return !math.IsInf(a, 0) && !math.IsInf(b, 0) && math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

func (r row) String() string {
	s, k := "", 0
	for i, c := range r.cells {
		if i > 0 {
			s += "|"
		}
		if c == "" {
			c = strconv.FormatFloat(r.floats[k], 'g', -1, 64)
			k++
		}
		s += c
	}
	return s
}

// orderedText reports that a query's own rows are in an order: nothing closes behind its last ORDER BY.
func orderedText(sql string) bool {
	i := strings.LastIndex(strings.ToLower(sql), "order by")
	if i < 0 {
		return false
	}
	depth := 0
	for _, c := range sql[i:] {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return true
}
