package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var segments = dbgen.Lazy("msegmnt")

// Account balances of customers and suppliers, in cents.
const (
	minBalance = -99999
	maxBalance = 999999
)

func fillCustomer(_ float64, lo int64, n int, v []gen.Vector) {
	keys := v[0].MakeInts(n)
	dbgen.Keys(keys, lo+1)
	dbgen.Labels(&v[1], "Customer#", keys)
	dbgen.NewStream(881155353, 9, lo).Addresses(&v[2], n, 25, dbgen.AddressLimitTPCH)
	nation := v[3].MakeInts(n)
	dbgen.NewStream(1489529863, 1, lo).Ints(nation, 0, 24)
	dbgen.NewStream(1521138112, 3, lo).Phones(&v[4], nation)
	dbgen.NewStream(298370230, 1, lo).Ints(v[5].MakeInts(n), minBalance, maxBalance)
	dbgen.NewStream(1140279430, 1, lo).Words(&v[6], n, segments())
	comments(&v[7], dbgen.NewStream(1335826707, 2, lo), n, 73)
}
