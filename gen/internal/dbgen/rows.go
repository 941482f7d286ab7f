package dbgen

import "github.com/kelpiedb/kelpie/gen"

// Rows is the source of a table whose units are its rows.
type Rows struct {
	N func(sf float64) int64                            // number of rows
	F func(sf float64, lo int64, n int, v []gen.Vector) // fills v with n rows from row lo on
}

func (s Rows) Units(sf float64) int64              { return s.N(sf) }
func (s Rows) Rows(sf float64) int64               { return s.N(sf) }
func (s Rows) Count(_ float64, lo, hi int64) int64 { return hi - lo }

func (s Rows) Fill(sf float64, lo, hi int64, b *gen.Batch) {
	b.Rows = int(hi - lo)
	s.F(sf, lo, b.Rows, b.Vectors)
}
