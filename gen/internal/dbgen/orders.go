package dbgen

// What the orders of both benchmarks have in common.
const (
	// MaxLines is the largest number of lines of an order. Every order consumes random numbers for as
	// many.
	MaxLines = 7

	FirstDay = 8035 // 1992-01-01, in days since 1970-01-01
	Days     = 2557 // from there to 1998-12-31

	// LastOrder is the last day with orders, so that all of them are received in 1998.
	LastOrder = FirstDay + Days - 121 - 30 - 1
)

// OrderKey is the key of an order, which is counted from 0. Only the first eight of each 32 keys are used;
// the others are for TPC-H's refresh functions.
func OrderKey(order int64) int64 {
	k := order + 1
	return k>>3<<5 | k&7
}

// LivingCustomer replaces a customer who never orders, as a third of all do not, by a neighbour.
func LivingCustomer(key, customers int64) int64 {
	for delta := int64(1); key%3 == 0; delta = -delta {
		key = min(key+delta, customers)
	}
	return key
}

// RetailPrice is the price of a part in cents.
func RetailPrice(part int64) int64 {
	return 90000 + part/10%20001 + part%1000*100
}

// CountLines adds up the lines of the next n orders, whose numbers of lines come from s.
func CountLines(s Stream, n int64) int64 {
	var sum int64
	for range n {
		sum += 1 + s.Row().Step().scale(MaxLines)
	}
	return sum
}

// Lines draws the number of lines of each of n orders, into dst where it is large enough, and returns them
// and their sum.
func (s Stream) Lines(dst []uint8, n int) ([]uint8, int) {
	if cap(dst) < n {
		dst = make([]uint8, n)
	}
	dst = dst[:n]
	sum := 0
	for i := range dst {
		dst[i] = uint8(1 + s.Row().Step().scale(MaxLines))
		sum += int(dst[i])
	}
	return dst, sum
}
