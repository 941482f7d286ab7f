package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

const suppliersPerPart = 4

// fillPartsupp takes its rows from streams that know only parts. As all four suppliers of a part are
// written and nothing is left over, a row is also a position in these streams.
func fillPartsupp(sf float64, lo int64, n int, v []gen.Vector) {
	part, supplier := v[0].MakeInts(n), v[1].MakeInts(n)
	supplierCount := suppliers(sf)
	for i := range n {
		row := lo + int64(i)
		part[i] = row/suppliersPerPart + 1
		supplier[i] = partSupplier(part[i], row%suppliersPerPart, supplierCount)
	}
	dbgen.NewStream(1671059989, 1, lo).Ints(v[2].MakeInts(n), 1, 9999)
	dbgen.NewStream(1051288424, 1, lo).Ints(v[3].MakeInts(n), 100, 100000)
	comments(&v[4], dbgen.NewStream(1961692154, 2, lo), n, 124)
}

// partSupplier is the key of the part's supplier number i, from 0 to 3.
func partSupplier(part, i, suppliers int64) int64 {
	return (part+i*(suppliers/suppliersPerPart+(part-1)/suppliers))%suppliers + 1
}
