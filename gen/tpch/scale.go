package tpch

// Rows at scale factor 1.
const (
	supplierBase = 10_000
	customerBase = 150_000
	partBase     = 200_000
	orderBase    = 1_500_000
)

// Numbers of rows at scale factor sf.
func suppliers(sf float64) int64 { return scaled(supplierBase, sf) }
func customers(sf float64) int64 { return scaled(customerBase, sf) }
func parts(sf float64) int64     { return scaled(partBase, sf) }
func partsupps(sf float64) int64 { return scaled(partBase, sf) * suppliersPerPart }
func orders(sf float64) int64    { return scaled(orderBase, sf) }

// scaled is the number of rows at scale factor sf of a table that has base rows at 1.
//
// The reference cuts scale factors below 1 to thousandths, so that 0.0125 is 0.012; this is kept. It cuts
// those above 1 to integers; this is not, so that 2.5 means what it says.
func scaled(base int64, sf float64) int64 {
	n := int64(float64(base) * sf)
	if sf < 1 && sf >= 0.001 {
		n = int64(1000*sf) * base / 1000
	}
	return max(n, 1)
}

// fixed is the number of rows of a table that does not grow.
func fixed(n int64) func(float64) int64 {
	return func(float64) int64 { return n }
}
