package scanned

import "github.com/kelpiedb/kelpie/internal/ir"

// Place is where the row at hand stands among those of the loop over a table's rows.
type Place struct {
	Later func(n int64) ir.Reg // opens a register with the number of the row n rows after this one, or of the last
	Count func() ir.Reg        // opens a register with the number of rows before this one
	Every bool                 // all of these rows come to the first operator
}
