package ssb

import "github.com/kelpiedb/kelpie/gen/internal/dbgen"

// The reference generates part, supplier, customer, date and lineorder, in this order. Streams of one
// table begin at its first row, except these:
//
//   - Suppliers draw their cities and telephone numbers from the same streams as customers, so that the
//     customers continue where the suppliers ended.
//   - The table number of the dates is also that of TPC-H's orders, and so each day consumes the numbers
//     of one order. The orders begin after the days.

// cities gives one number to each supplier, then to each customer.
func cities(row int64) dbgen.Stream { return dbgen.NewStream(1495190827, 1, row) }

// phones gives three numbers to each supplier, then to each customer.
func phones(row int64) dbgen.Stream { return dbgen.NewStream(1521138112, 3, row) }

// perOrder is a stream that gives one number to each order.
func perOrder(seed uint64, sf float64, order int64) dbgen.Stream {
	return dbgen.NewStream(seed, 1, referenceDays(sf)+order)
}

// perLine is a stream that gives one number to each line of an order, of which there are up to
// dbgen.MaxLines.
func perLine(seed uint64, order int64) dbgen.Stream {
	return dbgen.NewStream(seed, dbgen.MaxLines, order)
}
