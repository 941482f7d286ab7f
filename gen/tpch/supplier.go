package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

func fillSupplier(_ float64, lo int64, n int, v []gen.Vector) {
	keys := v[0].MakeInts(n)
	dbgen.Keys(keys, lo+1)
	dbgen.Labels(&v[1], "Supplier#", keys)
	dbgen.NewStream(706178559, 9, lo).Addresses(&v[2], n, 25, dbgen.AddressLimitTPCH)
	nation := v[3].MakeInts(n)
	dbgen.NewStream(110356601, 1, lo).Ints(nation, 0, 24)
	dbgen.NewStream(884434366, 3, lo).Phones(&v[4], nation)
	dbgen.NewStream(962338209, 1, lo).Ints(v[5].MakeInts(n), minBalance, maxBalance)
	comments(&v[6], dbgen.NewStream(1341315363, 2, lo), n, 63)
	addPress(&v[6], lo)
}

// addPress writes "Customer ... Complaints" or "Customer ... Recommends" over ten of ten thousand
// supplier comments; query 16 looks for the complaints.
func addPress(v *gen.Vector, lo int64) {
	const (
		who    = "Customer "
		length = len(who) + 10
	)
	press := dbgen.NewStream(202794285, 1, lo)
	kind := dbgen.NewStream(753643799, 1, lo)
	noise := dbgen.NewStream(263032577, 1, lo)
	offset := dbgen.NewStream(715851524, 1, lo)
	for i := range len(v.Offsets) - 1 {
		p, k, g, o := press.Row(), kind.Row(), noise.Row(), offset.Row()
		if p.Int(1, 10000) > 10 {
			continue
		}
		what := "Recommends"
		if k.Int(0, 100) < 50 {
			what = "Complaints"
		}
		comment := v.At(i)
		gap := g.Int(0, int64(len(comment)-length))
		start := o.Int(0, int64(len(comment)-length)-gap)
		copy(comment[start:], who)
		copy(comment[start+int64(len(who))+gap:], what)
	}
}
