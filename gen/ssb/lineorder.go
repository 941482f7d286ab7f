package ssb

import (
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var (
	priorities = dbgen.Lazy("o_oprio")
	shipModes  = dbgen.Lazy("smode")
)

// The columns of lineorder.
const (
	loOrderkey = iota
	loLinenumber
	loCustkey
	loPartkey
	loSuppkey
	loOrderdate
	loOrderpriority
	loShippriority
	loQuantity
	loExtendedprice
	loOrdtotalprice
	loDiscount
	loRevenue
	loSupplycost
	loTax
	loCommitdate
	loShipmode
)

// lineorderSource has orders for units, since the number of lines before an order is not known without
// walking there.
type lineorderSource struct{}

func (lineorderSource) Units(sf float64) int64 { return orders(sf) }

// Rows is an estimate: orders have one to seven lines, all equally likely.
func (lineorderSource) Rows(sf float64) int64 { return 4 * orders(sf) }

func (lineorderSource) Count(sf float64, lo, hi int64) int64 {
	return dbgen.CountLines(lineCounts(sf, lo), hi-lo)
}

func lineCounts(sf float64, order int64) dbgen.Stream { return perOrder(1434868289, sf, order) }

// Fill goes column by column: a column's random stream then stays in registers.
func (lineorderSource) Fill(sf float64, lo, hi int64, b *gen.Batch) {
	h := headsPool.Get().(*orderHeads)
	defer headsPool.Put(h)
	b.Rows = h.draw(sf, lo, int(hi-lo))

	n, v := b.Rows, b.Vectors
	part, supplier := v[loPartkey].MakeInts(n), v[loSuppkey].MakeInts(n)
	perLine(1808217256, lo).LineInts(part, h.lines, 1, orderedParts(sf))
	perLine(2095021727, lo).LineInts(supplier, h.lines, 1, suppliers(sf))

	quantity, discount, tax := v[loQuantity].MakeInts(n), v[loDiscount].MakeInts(n), v[loTax].MakeInts(n)
	perLine(209208115, lo).LineInts(quantity, h.lines, 1, 50)
	perLine(554590007, lo).LineInts(discount, h.lines, 0, 10)
	perLine(721958466, lo).LineInts(tax, h.lines, 0, 8)

	price, revenue, cost := v[loExtendedprice].MakeInts(n), v[loRevenue].MakeInts(n), v[loSupplycost].MakeInts(n)
	for i := range n {
		p := dbgen.RetailPrice(part[i])
		price[i] = p * quantity[i]
		revenue[i] = price[i] * (100 - discount[i]) / 100
		cost[i] = 6 * p / 10
	}

	commit := v[loCommitdate].MakeInts(n)
	perLine(904914315, lo).LineInts(commit, h.lines, 30, 90)
	perLine(675466456, lo).LineWords(&v[loShipmode], n, h.lines, shipModes())
	clear(v[loShippriority].MakeInts(n))
	h.fill(n, v, lo)
}

// orderHeads is what the lines of a range of orders take from their orders.
type orderHeads struct {
	lines            []uint8 // number of lines of each order
	dates, customers []int64
	priorities       gen.Vector
}

var headsPool = sync.Pool{New: func() any { return new(orderHeads) }}

// draw fills h for n orders from lo on and returns the sum of their lines.
func (h *orderHeads) draw(sf float64, lo int64, n int) int {
	h.dates = slices.Grow(h.dates[:0], n)[:n]
	perOrder(1066728069, sf, lo).Ints(h.dates, dbgen.FirstDay, dbgen.LastOrder)
	perOrder(591449447, sf, lo).Words(&h.priorities, n, priorities())

	h.customers = slices.Grow(h.customers[:0], n)[:n]
	customerCount := customers(sf)
	perOrder(851767375, sf, lo).Ints(h.customers, 1, customerCount)
	for i, c := range h.customers {
		h.customers[i] = dbgen.LivingCustomer(c, customerCount)
	}

	var sum int
	h.lines, sum = lineCounts(sf, lo).Lines(h.lines, n)
	return sum
}

// fill fills the columns that lines take from their orders, and those of the days and the total price. In
// lo_commitdate it expects the number of days after the order.
func (h *orderHeads) fill(n int, v []gen.Vector, lo int64) {
	key, number, customer := v[loOrderkey].MakeInts(n), v[loLinenumber].MakeInts(n), v[loCustkey].MakeInts(n)
	date, commit := v[loOrderdate].MakeInts(n), v[loCommitdate].Ints
	revenue, tax, total := v[loRevenue].Ints, v[loTax].Ints, v[loOrdtotalprice].MakeInts(n)
	priority := &v[loOrderpriority]
	priority.MakeStrings(n, 15*n)
	keys := dateKeys()
	i := 0
	for k, count := range h.lines {
		first := i
		day := h.dates[k] - dbgen.FirstDay
		var sum int64
		for line := range int64(count) {
			key[i] = dbgen.OrderKey(lo + int64(k))
			number[i] = line + 1
			customer[i] = h.customers[k]
			date[i] = keys[day]
			commit[i] = keys[day+commit[i]]
			sum += revenue[i] * (100 + tax[i]) / 100
			priority.Bytes = append(priority.Bytes, h.priorities.At(k)...)
			priority.End(i)
			i++
		}
		for ; first < i; first++ {
			total[first] = sum
		}
	}
}

// dateKeys has d_datekey for each day.
var dateKeys = sync.OnceValue(func() *[dbgen.Days]int64 {
	keys := new([dbgen.Days]int64)
	for i := range keys {
		y, m, d := gen.CivilDate(dbgen.FirstDay + int64(i))
		keys[i] = int64(y*10000 + m*100 + d)
	}
	return keys
})
