package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var (
	nations = dbgen.Lazy("nations")
	regions = dbgen.Lazy("regions")
)

func fillRegion(_ float64, lo int64, n int, v []gen.Vector) {
	dbgen.Keys(v[0].MakeInts(n), lo)
	names(&v[1], regions().Words[lo:][:n])
	comments(&v[2], dbgen.NewStream(1500869201, 2, lo), n, 72)
}

func fillNation(_ float64, lo int64, n int, v []gen.Vector) {
	dbgen.Keys(v[0].MakeInts(n), lo)
	names(&v[1], nations().Words[lo:][:n])
	region := v[2].MakeInts(n)
	for i, r := range nations().Sums[lo:][:n] {
		region[i] = int64(r)
	}
	comments(&v[3], dbgen.NewStream(606179079, 2, lo), n, 72)
}

func names(v *gen.Vector, words []string) {
	v.MakeStrings(len(words), 0)
	for i, w := range words {
		v.Bytes = append(v.Bytes, w...)
		v.End(i)
	}
}
