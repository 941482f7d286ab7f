package tpch

import (
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var (
	returnFlags  = dbgen.Lazy("rflag")
	instructions = dbgen.Lazy("instruct")
	shipModes    = dbgen.Lazy("smode")
)

// The columns of lineitem.
const (
	lOrderkey = iota
	lPartkey
	lSuppkey
	lLinenumber
	lQuantity
	lExtendedprice
	lDiscount
	lTax
	lReturnflag
	lLinestatus
	lShipdate
	lCommitdate
	lReceiptdate
	lShipinstruct
	lShipmode
	lComment
)

// lineitemSource has orders for units, since the number of lines before an order is not known without
// walking there.
type lineitemSource struct{}

func (lineitemSource) Units(sf float64) int64 { return orders(sf) }

// Rows is an estimate: orders have one to seven lines, all equally likely.
func (lineitemSource) Rows(sf float64) int64 { return 4 * orders(sf) }

func (lineitemSource) Count(_ float64, lo, hi int64) int64 {
	return dbgen.CountLines(lineCounts(lo), hi-lo)
}

// orderHeads is what the lines of a range of orders take from their orders.
type orderHeads struct {
	lines []uint8 // number of lines of each order
	dates []int64
}

var headsPool = sync.Pool{New: func() any { return new(orderHeads) }}

// Fill goes column by column: a column's random stream then stays in registers.
func (lineitemSource) Fill(sf float64, lo, hi int64, b *gen.Batch) {
	h := headsPool.Get().(*orderHeads)
	defer headsPool.Put(h)
	h.lines, b.Rows = lineCounts(lo).Lines(h.lines, int(hi-lo))
	h.dates = slices.Grow(h.dates[:0], int(hi-lo))[:hi-lo]
	orderDates(lo).Ints(h.dates, dbgen.FirstDay, dbgen.LastOrder)

	n, v := b.Rows, b.Vectors
	h.keys(v[lOrderkey].MakeInts(n), v[lLinenumber].MakeInts(n), lo)

	part, supplier := v[lPartkey].MakeInts(n), v[lSuppkey].MakeInts(n)
	lineParts(lo).LineInts(part, h.lines, 1, parts(sf))
	dbgen.NewStream(2095021727, maxLines, lo).LineInts(supplier, h.lines, 0, suppliersPerPart-1)
	supplierCount := suppliers(sf)
	for i := range n {
		supplier[i] = partSupplier(part[i], supplier[i], supplierCount)
	}

	quantity, price := v[lQuantity].MakeInts(n), v[lExtendedprice].MakeInts(n)
	lineQuantities(lo).LineInts(quantity, h.lines, 1, 50)
	for i := range n {
		price[i] = quantity[i] * dbgen.RetailPrice(part[i])
		quantity[i] *= 100 // it is a decimal
	}
	lineDiscounts(lo).LineInts(v[lDiscount].MakeInts(n), h.lines, 0, 10)
	lineTaxes(lo).LineInts(v[lTax].MakeInts(n), h.lines, 0, 8)

	ship, commit, receipt := v[lShipdate].MakeInts(n), v[lCommitdate].MakeInts(n), v[lReceiptdate].MakeInts(n)
	lineShipDates(lo).LineInts(ship, h.lines, 1, 121)
	dbgen.NewStream(904914315, maxLines, lo).LineInts(commit, h.lines, 30, 90)
	dbgen.NewStream(373135028, maxLines, lo).LineInts(receipt, h.lines, 1, 30)
	i := 0
	for k, count := range h.lines {
		for range count {
			ship[i] += h.dates[k]
			commit[i] += h.dates[k]
			receipt[i] += ship[i]
			i++
		}
	}
	h.flags(&v[lReturnflag], &v[lLinestatus], lo, ship, receipt)

	dbgen.NewStream(1371272478, maxLines, lo).LineWords(&v[lShipinstruct], n, h.lines, instructions())
	dbgen.NewStream(675466456, maxLines, lo).LineWords(&v[lShipmode], n, h.lines, shipModes())
	lineComments(&v[lComment], dbgen.NewStream(1095462486, 2*maxLines, lo), n, h.lines, 27)
}

func (h *orderHeads) keys(orders, numbers []int64, lo int64) {
	i := 0
	for k, count := range h.lines {
		key := dbgen.OrderKey(lo + int64(k))
		for number := range int64(count) {
			orders[i] = key
			numbers[i] = number + 1
			i++
		}
	}
}

// flags writes l_returnflag and l_linestatus. Only a line that has been received draws a return flag,
// so that the lines of an order depend on each other here.
func (h *orderHeads) flags(returned, status *gen.Vector, lo int64, ship, receipt []int64) {
	n := len(ship)
	returned.MakeStrings(n, n)
	status.MakeStrings(n, n)
	words := returnFlags()
	flag := dbgen.NewStream(717419739, maxLines, lo)
	rb, sb := returned.Bytes[:n], status.Bytes[:n]
	i := 0
	for _, count := range h.lines {
		r := flag.Row()
		for range count {
			rb[i], sb[i] = 'N', 'O'
			if receipt[i] <= today {
				rb[i] = words.Words[r.Pick(words)][0]
			}
			if ship[i] <= today {
				sb[i] = 'F'
			}
			i++
			returned.Offsets[i], status.Offsets[i] = int32(i), int32(i)
		}
	}
	returned.Bytes, status.Bytes = rb, sb
}
