package tpch

import (
	"strconv"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var (
	colors     = dbgen.Lazy("colors")
	partTypes  = dbgen.Lazy("p_types")
	containers = dbgen.Lazy("p_cntr")
)

func fillPart(_ float64, lo int64, n int, v []gen.Vector) {
	keys := v[0].MakeInts(n)
	dbgen.Keys(keys, lo+1)
	partNames(&v[1], dbgen.NewStream(709314158, len(colors().Words), lo), n)
	brands(&v[2], &v[3], lo, n)
	dbgen.NewStream(1841581359, 1, lo).Words(&v[4], n, partTypes())
	dbgen.NewStream(1193163244, 1, lo).Ints(v[5].MakeInts(n), 1, 50)
	dbgen.NewStream(727633698, 1, lo).Words(&v[6], n, containers())
	price := v[7].MakeInts(n)
	for i, k := range keys {
		price[i] = dbgen.RetailPrice(k)
	}
	comments(&v[8], dbgen.NewStream(804159733, 2, lo), n, 14)
}

// partNames writes five different colours for each part: the beginning of a random permutation.
func partNames(v *gen.Vector, s dbgen.Stream, n int) {
	const words = 5
	color := colors().Words
	v.MakeStrings(n, n*40)
	perm := make([]uint8, len(color))
	for i := range perm {
		perm[i] = uint8(i)
	}
	for i := range n {
		r := s.Row()
		var swaps [words]int64
		for k := range swaps {
			swaps[k] = r.Int(int64(k), int64(len(perm)-1))
			perm[k], perm[swaps[k]] = perm[swaps[k]], perm[k]
			if k > 0 {
				v.Bytes = append(v.Bytes, ' ')
			}
			v.Bytes = append(v.Bytes, color[perm[k]]...)
		}
		v.End(i)
		// Undo the swaps: the next part starts from the identity again.
		for k := words - 1; k >= 0; k-- {
			perm[k], perm[swaps[k]] = perm[swaps[k]], perm[k]
		}
	}
}

// brands writes p_mfgr and p_brand; a brand belongs to a manufacturer.
func brands(mfgr, brand *gen.Vector, lo int64, n int) {
	mfgr.MakeStrings(n, n*len("Manufacturer#1"))
	brand.MakeStrings(n, n*len("Brand#11"))
	m, b := dbgen.NewStream(1, 1, lo), dbgen.NewStream(46831694, 1, lo)
	for i := range n {
		rm, rb := m.Row(), b.Row()
		number := rm.Int(1, 5)
		mfgr.Bytes = strconv.AppendInt(append(mfgr.Bytes, "Manufacturer#"...), number, 10)
		mfgr.End(i)
		brand.Bytes = strconv.AppendInt(append(brand.Bytes, "Brand#"...), number*10+rb.Int(1, 5), 10)
		brand.End(i)
	}
}
