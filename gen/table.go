package gen

import (
	"fmt"
	"strings"
)

// Kind says how a column's values are represented in a Vector.
type Kind uint8

const (
	Int     Kind = iota // Vector.Ints, as is
	Decimal             // Vector.Ints, scaled by 100
	Date                // Vector.Ints, days since 1970-01-01
	String              // Vector.Bytes and Vector.Offsets
)

// Column describes one column of a Table.
type Column struct {
	Name string
	Type string // SQL type: INTEGER, BIGINT, DECIMAL(15,2), DATE or VARCHAR(n)

	// Whole marks a decimal column that has no fraction and that the reference's .tbl files write
	// as an integer (l_quantity).
	Whole bool
}

// Kind derives the representation from the SQL type.
func (c Column) Kind() Kind {
	switch {
	case strings.HasPrefix(c.Type, "VARCHAR"):
		return String
	case strings.HasPrefix(c.Type, "DECIMAL"):
		return Decimal
	case c.Type == "DATE":
		return Date
	}
	return Int
}

// Table is one table of a benchmark.
type Table struct {
	Name       string
	Columns    []Column
	PrimaryKey []string
	Source     Source
}

// Source generates the rows of one table. Callers go through Table, which checks ranges and prepares
// the batch.
type Source interface {
	// Units is the number of seekable units at scale factor sf.
	Units(sf float64) int64
	// Rows is the number of rows at scale factor sf, or an estimate where it takes a walk over all
	// units to know it.
	Rows(sf float64) int64
	// Count is the exact number of rows of the units [lo, hi).
	Count(sf float64, lo, hi int64) int64
	// Fill sets b.Rows and fills every vector of b with the rows of the units [lo, hi).
	Fill(sf float64, lo, hi int64, b *Batch)
}

// Units is the number of seekable units at scale factor sf: orders for the tables of order lines, rows
// for all others.
func (t Table) Units(sf float64) int64 { return t.Source.Units(sf) }

// Rows is the number of rows at scale factor sf. It is exact except for the tables of order lines,
// where it is four times the number of orders, within a fraction of a percent of the truth.
func (t Table) Rows(sf float64) int64 { return t.Source.Rows(sf) }

// CountRows is the exact number of rows of the units [lo, hi), found without generating them. It costs
// a few nanoseconds per order and nothing for the other tables.
func (t Table) CountRows(sf float64, lo, hi int64) int64 {
	t.check(sf, lo, hi)
	return t.Source.Count(sf, lo, hi)
}

// Generate replaces the contents of b with the rows of the units [lo, hi), in the reference's order.
// Memory that b holds from earlier calls is used again. A range of a few thousand to a hundred thousand
// units is efficient; in any case a column's strings must stay below 2 GiB.
func (t Table) Generate(sf float64, lo, hi int64, b *Batch) {
	t.check(sf, lo, hi)
	b.reset(t.Columns)
	t.Source.Fill(sf, lo, hi, b)
}

// check panics on a range outside of the table, as a slice expression would.
func (t Table) check(sf float64, lo, hi int64) {
	if n := t.Source.Units(sf); lo < 0 || hi < lo || hi > n {
		panic(fmt.Sprintf("gen: range [%d, %d) of table %s, which has %d units at scale factor %g", lo, hi, t.Name, n, sf))
	}
}

// Lookup finds a table by its name.
func Lookup(tables []Table, name string) (Table, bool) {
	for _, t := range tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}
