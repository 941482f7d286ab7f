package phys

import "github.com/kelpiedb/kelpie/internal/pipe"

// quickRows is up to how many rows of scans a query that waits for the driver begins with code that is not optimized: that is 2.7 times as slow, which costs TPC-H's queries
// 1.6 ms on average and 5 at the most at scale factor 10, where q21 scans 200 million rows; the driver is 15 to 30 ms earlier.
const quickRows = 250e6

// ChooseQuick reports that a query of few rows had better begin with code that is not optimized: it loses less by that than by waiting for the driver longer.
func ChooseQuick(prog *pipe.Program) bool {
	rows := 0.0
	for _, p := range prog.Pipelines {
		switch s := p.Source.(type) {
		case *pipe.Table:
			rows += float64(s.Scan.Snap.Rows)
		case *pipe.Series:
			rows += float64(s.Node.N)
		}
	}
	return rows <= quickRows
}
