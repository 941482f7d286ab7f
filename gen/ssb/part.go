package ssb

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
	dbgen.Keys(v[0].MakeInts(n), lo+1)
	partNames(&v[5], &v[1], lo, n)
	brands(&v[2], &v[3], &v[4], lo, n)
	dbgen.NewStream(1841581359, 1, lo).Words(&v[6], n, partTypes())
	dbgen.NewStream(1193163244, 1, lo).Ints(v[7].MakeInts(n), 1, 50)
	dbgen.NewStream(727633698, 1, lo).Words(&v[8], n, containers())
}

// brands writes p_mfgr, p_category and p_brand1, each of which begins with the one before.
func brands(mfgr, category, brand *gen.Vector, lo int64, n int) {
	const tag = "MFGR#"
	mfgr.MakeStrings(n, n*len(tag+"1"))
	category.MakeStrings(n, n*len(tag+"11"))
	brand.MakeStrings(n, n*len(tag+"1140"))
	m, c, b := dbgen.NewStream(1, 1, lo), dbgen.NewStream(637858759, 1, lo), dbgen.NewStream(46831694, 1, lo)
	name := []byte(tag)
	for i := range n {
		rm, rc, rb := m.Row(), c.Row(), b.Row()
		name = strconv.AppendInt(name[:len(tag)], rm.Int(1, 5), 10)
		mfgr.Bytes = append(mfgr.Bytes, name...)
		mfgr.End(i)
		name = strconv.AppendInt(name, rc.Int(1, 5), 10)
		category.Bytes = append(category.Bytes, name...)
		category.End(i)
		name = strconv.AppendInt(name, rb.Int(1, 40), 10)
		brand.Bytes = append(brand.Bytes, name...)
		brand.End(i)
	}
}

// colorCount is the number of colours.
const colorCount = 92

// partNames writes three different colours for each part, the first as its colour and the others as its
// name: the beginning of a random permutation. Unlike TPC-H's, this permutation swaps each colour with
// any other, so that all of it has to be carried out for the first three.
func partNames(color, name *gen.Vector, lo int64, n int) {
	color.MakeStrings(n, n*11)
	name.MakeStrings(n, n*22)
	words := colors().Words
	s := dbgen.NewStream(709314158, colorCount, lo)
	var identity, perm [colorCount]uint8
	for i := range identity {
		identity[i] = uint8(i)
	}
	for i := range n {
		r := s.Row()
		perm = identity
		for k := range perm {
			j := r.Int(0, colorCount-1)
			perm[k], perm[j] = perm[j], perm[k]
		}
		color.Bytes = append(color.Bytes, words[perm[0]]...)
		color.End(i)
		name.Bytes = append(name.Bytes, words[perm[1]]...)
		name.Bytes = append(name.Bytes, ' ')
		name.Bytes = append(name.Bytes, words[perm[2]]...)
		name.End(i)
	}
}
