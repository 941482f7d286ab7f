package corpus

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Kind says how cells of a column are compared.
type Kind byte

const (
	Other  Kind = iota // by their text
	Exact              // integers and decimals: by their text, or by value
	Double             // to 1e-12 of their size
	Single             // REAL, to 1e-6
)

// Cell is one value of a result, as text.
type Cell struct {
	Kind Kind
	Null bool
	Text string
}

// String is the cell as files have it.
func (c Cell) String() string {
	switch {
	case c.Null:
		return "NULL"
	case c.Text == "":
		return "(empty)"
	case c.Text == "NULL":
		return `\x4eULL`
	case c.Text == "(empty)":
		return `\x28empty)`
	}
	var b strings.Builder
	for i := 0; i < len(c.Text); i++ {
		switch ch := c.Text[i]; {
		case ch == '\\':
			b.WriteString(`\\`)
		case ch == '\n':
			b.WriteString(`\n`)
		case ch == '\t':
			b.WriteString(`\t`)
		case ch == '\r':
			b.WriteString(`\r`)
		case ch == '|' || ch < ' ' || ch == 0x7f || ch == ' ' && (i == 0 || i == len(c.Text)-1):
			fmt.Fprintf(&b, `\x%02x`, ch)
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// RowText is a row as files have it.
func RowText(row []Cell) string {
	cells := make([]string, len(row))
	for i, c := range row {
		cells[i] = c.String()
	}
	return strings.Join(cells, "|")
}

// Foreign says that rows come from another engine: numbers are compared by value, since the
// scale of a decimal is not the same everywhere.
type Foreign bool

// Diff compares a result with what the record wants and describes the first difference, "" if there is
// none.
func (r *Record) Diff(rows [][]Cell, foreign Foreign) string {
	want := r.Rows
	if r.RowSort {
		want = slices.Clone(want)
		slices.Sort(want)
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b []Cell) int { return strings.Compare(RowText(a), RowText(b)) })
	}
	for i, row := range rows {
		if i >= len(want) {
			return fmt.Sprintf("%d rows, want %d; row %d is %s", len(rows), len(want), i+1, RowText(row))
		}
		cells := strings.Split(want[i], "|")
		if len(cells) != len(row) {
			return fmt.Sprintf("row %d has %d columns, want %d: %s", i+1, len(row), len(cells), RowText(row))
		}
		for k, c := range row {
			if !r.same(cells[k], c, foreign) {
				return fmt.Sprintf("row %d is %s, want %s", i+1, RowText(row), want[i])
			}
		}
	}
	if len(rows) < len(want) {
		return fmt.Sprintf("%d rows, want %d; row %d should be %s", len(rows), len(want), len(rows)+1, want[len(rows)])
	}
	return ""
}

// same compares a cell with its text in the file.
func (r *Record) same(want string, c Cell, foreign Foreign) bool {
	got := c.String()
	if got == want {
		return true
	}
	if c.Null || want == "NULL" {
		return false
	}
	switch c.Kind {
	case Double:
		return near(want, got, 1e-12)
	case Single:
		return near(want, got, 1e-6)
	case Exact:
		return bool(foreign) && sameNumber(want, got, r.Rounded)
	}
	return false
}

// near compares finite floating-point numbers; signs of zeros count.
func near(a, b string, tolerance float64) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || math.IsInf(x, 0) || math.IsInf(y, 0) || math.Signbit(x) != math.Signbit(y) {
		return false
	}
	return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

// sameNumber compares two exact numbers, as roundings of one number if that is asked for.
func sameNumber(a, b string, rounded bool) bool {
	x, ok1 := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok1 || !ok2 {
		return false
	}
	if x.Cmp(y) == 0 {
		return true
	}
	// Both are one number, each rounded at its own scale: half a unit of the last place of each is
	// the most by which they differ.
	most := new(big.Rat).Add(halfUnit(a), halfUnit(b))
	return rounded && x.Sub(x, y).Abs(x).Cmp(most) <= 0
}

// halfUnit is half of a unit of a number's last place.
func halfUnit(number string) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scaleOf(number))), nil)
	return new(big.Rat).SetFrac(big.NewInt(1), unit.Lsh(unit, 1))
}

func scaleOf(number string) int {
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}
