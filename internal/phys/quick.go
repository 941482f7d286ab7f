package phys

import "github.com/kelpiedb/kelpie/internal/pipe"

// quickRows is up to how many rows of scans a query that waits for the driver begins with code that is not optimized.
const quickRows = 20e6

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
