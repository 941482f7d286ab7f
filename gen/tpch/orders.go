package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var priorities = dbgen.Lazy("o_oprio")

const (
	maxLines = dbgen.MaxLines
	today    = 9298 // 1995-06-17: what is later has not happened yet
)

// Streams that orders and lineitem share, standing at an order.
func orderDates(order int64) dbgen.Stream     { return dbgen.NewStream(1066728069, 1, order) }
func lineCounts(order int64) dbgen.Stream     { return dbgen.NewStream(1434868289, 1, order) }
func lineQuantities(order int64) dbgen.Stream { return dbgen.NewStream(209208115, maxLines, order) }
func lineDiscounts(order int64) dbgen.Stream  { return dbgen.NewStream(554590007, maxLines, order) }
func lineTaxes(order int64) dbgen.Stream      { return dbgen.NewStream(721958466, maxLines, order) }
func lineParts(order int64) dbgen.Stream      { return dbgen.NewStream(1808217256, maxLines, order) }
func lineShipDates(order int64) dbgen.Stream  { return dbgen.NewStream(1769349045, maxLines, order) }

func fillOrders(sf float64, lo int64, n int, v []gen.Vector) {
	key := v[0].MakeInts(n)
	for i := range key {
		key[i] = dbgen.OrderKey(lo + int64(i))
	}
	customer, customerCount := v[1].MakeInts(n), customers(sf)
	dbgen.NewStream(851767375, 1, lo).Ints(customer, 1, customerCount)
	for i, c := range customer {
		customer[i] = dbgen.LivingCustomer(c, customerCount)
	}

	date := v[4].MakeInts(n)
	orderDates(lo).Ints(date, dbgen.FirstDay, dbgen.LastOrder)
	statusAndTotal(sf, lo, date, &v[2], v[3].MakeInts(n))

	dbgen.NewStream(591449447, 1, lo).Words(&v[5], n, priorities())
	clerk := v[7].MakeInts(n) // o_shippriority lends its memory
	dbgen.NewStream(1171034773, 1, lo).Ints(clerk, 1, max(int64(sf*1000), 1000))
	dbgen.Labels(&v[6], "Clerk#", clerk)
	clear(v[7].Ints)
	comments(&v[8], dbgen.NewStream(276090261, 2, lo), n, 49)
}

// statusAndTotal sums up each order's lines, which it generates as far as it needs them.
func statusAndTotal(sf float64, lo int64, date []int64, status *gen.Vector, total []int64) {
	status.MakeStrings(len(date), len(date))
	partCount := parts(sf)
	count, quantity, discount := lineCounts(lo), lineQuantities(lo), lineDiscounts(lo)
	tax, part, ship := lineTaxes(lo), lineParts(lo), lineShipDates(lo)
	for i, day := range date {
		c, q, d, t, p, s := count.Row(), quantity.Row(), discount.Row(), tax.Row(), part.Row(), ship.Row()
		var sum, shipped int64
		lines := c.Int(1, maxLines)
		for range lines {
			price := dbgen.RetailPrice(p.Int(1, partCount)) * q.Int(1, 50)
			// Both divisions truncate, one after the other, as the reference's do.
			sum += price * (100 - d.Int(0, 10)) / 100 * (100 + t.Int(0, 8)) / 100
			if day+s.Int(1, 121) <= today {
				shipped++
			}
		}
		total[i] = sum
		letter := byte('P')
		switch shipped {
		case lines:
			letter = 'F'
		case 0:
			letter = 'O'
		}
		status.Bytes = append(status.Bytes, letter)
		status.End(i)
	}
}
