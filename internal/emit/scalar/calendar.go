package scalar

import (
	"encoding/binary"
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Taking a date apart costs a dozen multiplications. Where statistics bound a column to some
// decades, and there are many more rows than days, a table with an entry per day tells in one load.

// calField is where a field lies in an entry.
type calField struct{ off, size int }

var (
	calYear  = calField{0, 2}
	calMonth = calField{2, 1}
	calDay   = calField{3, 1}
	calDoy   = calField{4, 2} // from 1
	calDow   = calField{6, 1} // Sunday is 0
	calDoq   = calField{7, 1} // day of the quarter, from 1
)

const (
	calEntry     = 8
	maxCalendar  = 1 << 15 // days
	rowsPerEntry = 8       // rows that pay for making an entry
)

// calendar is a table in the pool.
type calendar struct {
	lo    int64 // the first day
	table []byte
	off   int // in the pool; -1: not there
}

// calendarFor is the table for days in a range, if it pays. It has a place in the pool.
func (e *Evaluator) calendarFor(rng layout.Range) (*calendar, bool) {
	n := rng.Span(maxCalendar)
	if !e.Can.CheapLoads || e.Off.LookupTables || n <= 0 || n > e.Rows/rowsPerEntry {
		return nil, false
	}
	lo := int64(rng.Lo.Lo)
	i := slices.IndexFunc(e.calendars, func(c *calendar) bool { return c.lo == lo && int64(len(c.table)) == n*calEntry })
	if i < 0 {
		table := makeCalendar(lo, n)
		if table == nil {
			return nil, false
		}
		i = len(e.calendars)
		e.calendars = append(e.calendars, &calendar{lo, table, -1})
	}
	c := e.calendars[i]
	if c.off < 0 {
		c.off = e.PoolOffset(string(c.table))
	}
	return c, true
}

// forgetPool is told that the pool was cut to a length.
func (e *Evaluator) forgetPool(n int) {
	for _, c := range e.calendars {
		if c.off >= n {
			c.off = -1
		}
	}
	for i := range e.textMaps {
		if p := &e.textMaps[i]; p.off >= n {
			p.off = -1
		}
	}
}

// makeCalendar is nil for years that do not fit.
func makeCalendar(lo, n int64) []byte {
	first, _, _ := types.CivilFromDays(lo)
	last, _, _ := types.CivilFromDays(lo + n - 1)
	if first < 1 || last > 1<<15 {
		return nil
	}
	table := make([]byte, 0, n*calEntry)
	dow := (lo + 4 + 7*1_000_000_000) % 7 // 1970-01-01 was a Thursday
	var doy, doq uint16
	for i := range n {
		y, m, d := types.CivilFromDays(lo + i)
		if i == 0 || d == 1 && m == 1 {
			doy = uint16(lo + i - types.DaysFromCivil(y, 1, 1))
		}
		if i == 0 || d == 1 && m%3 == 1 {
			doq = uint16(lo + i - types.DaysFromCivil(y, (m-1)/3*3+1, 1))
		}
		doy, doq = doy+1, doq+1
		table = binary.LittleEndian.AppendUint16(table, uint16(y))
		table = append(table, byte(m), byte(d))
		table = binary.LittleEndian.AppendUint16(table, doy)
		table = append(table, byte(dow), byte(doq))
		if dow++; dow == 7 {
			dow = 0
		}
	}
	return table
}

// calendarField opens a register with a field of a day, by the table. Where null, a register or
// an immediate, is not 0 the day may be anything.
func (e *Evaluator) calendarField(c *calendar, days ir.Reg, null ir.Val, f calField) ir.Reg {
	tab, r := e.LoadWord("calendar", code.Word{Kind: code.WordPool}), e.Int("field")
	at := e.Int("day")
	e.B.Op2(ir.Sub, at, days.V(), ir.K(c.lo))
	if !null.IsImm() {
		e.B.Sel(at, ir.NE, null, ir.K(0), ir.K(0), at.V())
	}
	e.B.Load(r, ir.AtIndex(tab, at, calEntry, c.off+f.off), f.size, false)
	e.B.Clear(at, tab)
	return r
}
