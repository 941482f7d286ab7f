package ssb

import (
	"math"

	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// scaled is the number of rows at scale factor sf of a table that has base rows at 1.
func scaled(base int64, sf float64) int64 {
	return max(int64(float64(base)*sf), 1)
}

// Numbers of rows at scale factor sf.
func customers(sf float64) int64 { return scaled(30_000, sf) }
func suppliers(sf float64) int64 { return scaled(2_000, sf) }
func orders(sf float64) int64    { return scaled(1_500_000, sf) }
func days(float64) int64         { return dbgen.Days }

// parts grows with the logarithm of sf.
func parts(sf float64) int64 {
	const base = 200_000
	if sf < 1 {
		return scaled(base, sf)
	}
	return base * int64(math.Floor(1+math.Log(sf)/math.Log(2)))
}

// orderedParts is the number of parts that occur in orders. From scale factor 2 on these are not
// all, as the reference takes the natural logarithm here and the binary one for the table.
func orderedParts(sf float64) int64 {
	const base = 200_000
	if sf < 1 {
		return scaled(base, sf)
	}
	return base * int64(math.Floor(math.Log(sf))+1)
}

// referenceDays is the number of days that the reference has in its date table.
func referenceDays(sf float64) int64 { return min(scaled(dbgen.Days, sf), dbgen.Days) }
