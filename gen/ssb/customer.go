package ssb

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var (
	nations  = dbgen.Lazy("nations")
	regions  = dbgen.Lazy("regions")
	segments = dbgen.Lazy("msegmnt")
)

func fillCustomer(sf float64, lo int64, n int, v []gen.Vector) {
	before := suppliers(sf) // have used the shared streams
	fillPerson(v, "Customer#", lo, n, personStreams{
		address: dbgen.NewStream(881155353, 9, lo),
		nation:  dbgen.NewStream(1489529863, 1, lo),
		city:    cities(before + lo),
		phone:   phones(before + lo),
	})
	dbgen.NewStream(1140279430, 1, lo).Words(&v[7], n, segments())
}

func fillSupplier(_ float64, lo int64, n int, v []gen.Vector) {
	fillPerson(v, "Supplier#", lo, n, personStreams{
		address: dbgen.NewStream(706178559, 9, lo),
		nation:  dbgen.NewStream(110356601, 1, lo),
		city:    cities(lo),
		phone:   phones(lo),
	})
}

type personStreams struct{ address, nation, city, phone dbgen.Stream }

// fillPerson fills the seven columns that customers and suppliers have in common.
func fillPerson(v []gen.Vector, tag string, lo int64, n int, s personStreams) {
	keys, city, nation, region := v[0].MakeInts(n), &v[3], &v[4], &v[5]
	city.MakeStrings(n, n*10)
	nation.MakeStrings(n, n*15)
	region.MakeStrings(n, n*12)

	list, names := nations(), regions().Words
	numbers := keys // the keys lend their memory to the nations' numbers
	s.nation.Ints(numbers, 0, int64(len(list.Words)-1))
	for i, k := range numbers {
		r := s.city.Row()
		city.Bytes = appendCity(city.Bytes, list.Words[k], r.Int(0, 9))
		city.End(i)
		nation.Bytes = append(nation.Bytes, list.Words[k]...)
		nation.End(i)
		region.Bytes = append(region.Bytes, names[list.Sums[k]]...)
		region.End(i)
	}
	s.phone.Phones(&v[6], numbers)

	dbgen.Keys(keys, lo+1)
	dbgen.Labels(&v[1], tag, keys)
	s.address.Addresses(&v[2], n, 15, dbgen.AddressLimitSSB)
}

// appendCity appends nine characters of the nation, filled up with blanks, and a digit.
func appendCity(dst []byte, nation string, digit int64) []byte {
	const width = 9
	end := len(dst) + width
	dst = append(dst, nation[:min(len(nation), width)]...)
	for len(dst) < end {
		dst = append(dst, ' ')
	}
	return append(dst, byte('0'+digit))
}
