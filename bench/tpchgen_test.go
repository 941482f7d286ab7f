package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen/tpch"
)

// edge is a foreign key of TPC-H: columns of one table that equal columns of another.
type edge struct{ from, to, on string }

var edges = []edge{
	{"lineitem", "orders", "l_orderkey = o_orderkey"},
	{"lineitem", "part", "l_partkey = p_partkey"},
	{"lineitem", "supplier", "l_suppkey = s_suppkey"},
	{"lineitem", "partsupp", "l_partkey = ps_partkey and l_suppkey = ps_suppkey"},
	{"orders", "customer", "o_custkey = c_custkey"},
	{"partsupp", "part", "ps_partkey = p_partkey"},
	{"partsupp", "supplier", "ps_suppkey = s_suppkey"},
	{"customer", "nation", "c_nationkey = n_nationkey"},
	{"supplier", "nation", "s_nationkey = n_nationkey"},
	{"nation", "region", "n_regionkey = r_regionkey"},
}

// filters are conditions on a table of various selectivities.
var filters = map[string][]string{
	"lineitem": {"l_shipdate < date '1995-03-15'", "l_shipdate between date '1994-01-01' and date '1994-06-30'", "l_quantity < 10", "l_discount between 0.05 and 0.07",
		"l_shipmode in ('MAIL', 'SHIP')", "l_returnflag = 'R'", "l_commitdate < l_receiptdate", "l_comment like '%special%'", "l_extendedprice * (1 - l_discount) > 50000",
		"extract(year from l_shipdate) = 1996", "l_linenumber = 1 or l_tax > 0.05", "l_orderkey % 7 = 3", "l_partkey < 20", "l_shipinstruct not in ('NONE', 'COLLECT COD')"},
	"orders": {"o_orderdate >= date '1995-01-01'", "o_orderstatus = 'F'", "o_totalprice > 200000", "o_orderpriority like '1%'", "o_custkey < 100", "o_comment not like '%requests%'",
		"o_orderdate < date '1992-03-01'"},
	"customer": {"c_mktsegment = 'BUILDING'", "c_acctbal > 0", "c_nationkey in (1, 5, 9)", "substring(c_phone from 1 for 2) in ('13', '31')", "c_custkey % 3 = 0", "c_name = 'nobody'"},
	"part":     {"p_size = 15", "p_brand = 'Brand#12'", "p_type like '%BRASS'", "p_container in ('SM CASE', 'MED BAG')", "p_name like '%green%'", "p_retailprice > 1500", "p_partkey < 10"},
	"partsupp": {"ps_availqty > 5000", "ps_supplycost < 100", "ps_partkey < 50"},
	"supplier": {"s_acctbal < 0", "s_nationkey = 7", "s_comment like '%Customer%'", "s_suppkey <= 5"},
	"nation":   {"n_name in ('FRANCE', 'GERMANY')", "n_regionkey = 2", "n_name > 'M'"},
	"region":   {"r_name = 'ASIA'", "r_name <> 'EUROPE'"},
}

// keys and values are what is grouped by and what is aggregated.
var (
	groupKeys = map[string][]string{
		"lineitem": {"l_returnflag", "l_linestatus", "l_shipmode", "l_orderkey", "l_partkey", "l_suppkey", "extract(year from l_shipdate)", "l_shipdate", "l_quantity", "l_linenumber", "l_tax", "l_comment"},
		"orders":   {"o_orderpriority", "o_orderstatus", "o_orderdate", "o_custkey", "o_orderkey", "extract(month from o_orderdate)", "o_clerk"},
		"customer": {"c_mktsegment", "c_nationkey", "c_custkey", "c_name", "substring(c_phone from 1 for 2)"},
		"part":     {"p_brand", "p_type", "p_size", "p_container", "p_partkey", "p_mfgr"},
		"partsupp": {"ps_partkey", "ps_suppkey"},
		"supplier": {"s_suppkey", "s_nationkey", "s_name"},
		"nation":   {"n_name", "n_regionkey"},
		"region":   {"r_name"},
	}
	measures = map[string][]string{
		"lineitem": {"l_quantity", "l_extendedprice * (1 - l_discount)", "l_extendedprice * (1 - l_discount) * (1 + l_tax)", "l_partkey", "l_shipdate", "l_comment", "l_orderkey"},
		"orders":   {"o_totalprice", "o_orderdate", "o_orderkey", "o_comment"},
		"customer": {"c_acctbal", "c_custkey", "c_name"},
		"part":     {"p_retailprice", "p_size", "p_name"},
		"partsupp": {"ps_supplycost * ps_availqty", "ps_availqty"},
		"supplier": {"s_acctbal", "s_suppkey", "s_name"},
		"nation":   {"n_name", "n_nationkey"},
		"region":   {"r_name"},
	}
	numeric = map[string]bool{"l_quantity": true, "l_partkey": true, "l_orderkey": true, "o_totalprice": true, "o_orderkey": true, "c_acctbal": true, "c_custkey": true,
		"p_retailprice": true, "p_size": true, "ps_availqty": true, "s_acctbal": true, "s_suppkey": true, "n_nationkey": true}
)

// tpchQuery writes a query over tables that foreign keys connect.
func (g *sqlGen) tpchQuery() string {
	first := g.pick("lineitem", "lineitem", "lineitem", "orders", "orders", "customer", "partsupp", "part", "supplier")
	tables := []string{first}
	from := first
	var where []string
	for range g.r.IntN(5) {
		e := edges[g.r.IntN(len(edges))]
		hasFrom, hasTo := has(tables, e.from), has(tables, e.to)
		if hasFrom == hasTo {
			continue
		}
		next := e.to
		if hasTo {
			next = e.from
		}
		tables = append(tables, next)
		kind := g.pick("", "", "", "", "left ", "right ", "full ")
		on := e.on
		if g.chance(25) {
			on += " and " + g.pick(filters[next]...)
		}
		if kind == "full " {
			on = e.on
		}
		from += fmt.Sprintf(" %sjoin %s on %s", kind, next, on)
	}
	for _, t := range tables {
		if g.chance(45) {
			where = append(where, g.pick(filters[t]...))
		}
	}
	if g.chance(35) {
		where = append(where, g.tpchSubquery(tables))
	}
	if g.chance(15) {
		t := tables[g.r.IntN(len(tables))]
		where = append(where, "("+g.pick(filters[t]...)+" or "+g.pick(filters[tables[0]]...)+")")
	}
	var keys, items []string
	for range g.r.IntN(4) {
		t := tables[g.r.IntN(len(tables))]
		keys = append(keys, g.pick(groupKeys[t]...))
	}
	items = append(items, keys...)
	for range 1 + g.r.IntN(4) {
		items = append(items, g.measure(tables))
	}
	q := fmt.Sprintf("select %s from %s", strings.Join(items, ", "), from)
	if len(where) > 0 {
		q += " where " + strings.Join(where, " and ")
	}
	if len(keys) > 0 {
		q += " group by " + strings.Join(keys, ", ")
		if g.chance(25) {
			q += " having " + g.pick("count(*) > 2", "count(*) between 2 and 20", g.measure(tables)+" is not null")
		}
		if g.chance(30) {
			var by []string
			for i := range items {
				by = append(by, fmt.Sprintf("%d%s", i+1, g.pick("", " desc")))
			}
			q += fmt.Sprintf(" order by %s limit %d", strings.Join(by, ", "), 1+g.r.IntN(50))
		} else {
			// Larger results are compared by their sums.
			q = fmt.Sprintf("select count(*), %s from (%s) q(%s)", repeat(len(items), ", ", func(i int) string {
				return fmt.Sprintf("min(c%d), max(c%[1]d), count(distinct c%[1]d)", i)
			}), q, repeat(len(items), ", ", func(i int) string { return fmt.Sprintf("c%d", i) }))
		}
	}
	return q
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// measure is an aggregate over one of the tables.
func (g *sqlGen) measure(tables []string) string {
	t := tables[g.r.IntN(len(tables))]
	m := g.pick(measures[t]...)
	if g.chance(15) {
		return "count(*)"
	}
	if g.chance(20) {
		return "count(" + g.pick("", "distinct ") + m + ")"
	}
	fn := g.pick("min", "max")
	if numeric[m] || strings.Contains(m, "*") {
		fn = g.pick("sum", "sum", "min", "max", "count")
	}
	out := fn + "(" + m + ")"
	if g.chance(15) {
		out += " filter (where " + g.pick(filters[t]...) + ")"
	}
	return out
}

// tpchSubquery is a condition with a subquery that a foreign key connects.
func (g *sqlGen) tpchSubquery(tables []string) string {
	for range 30 {
		e := edges[g.r.IntN(len(edges))]
		in, out := e.from, e.to
		if !has(tables, out) {
			in, out = out, in
		}
		if !has(tables, out) || has(tables, in) || strings.Contains(e.on, " and ") {
			continue
		}
		l, r, _ := strings.Cut(e.on, " = ")
		if out == e.from {
			l, r = r, l
		}
		cond := g.pick(filters[in]...)
		switch g.r.IntN(5) {
		case 0:
			return fmt.Sprintf("%s in (select %s from %s where %s)", r, l, in, cond)
		case 1:
			return fmt.Sprintf("%s not in (select %s from %s where %s)", r, l, in, cond)
		case 2:
			return fmt.Sprintf("exists (select 1 from %s where %s = %s and %s)", in, l, r, cond)
		case 3:
			return fmt.Sprintf("not exists (select 1 from %s where %s = %s and %s)", in, l, r, cond)
		default:
			return fmt.Sprintf("%d < (select count(*) from %s where %s = %s and %s)", g.r.IntN(3), in, l, r, cond)
		}
	}
	return "true"
}

// TestRandomTPCH runs random queries on TPC-H's tables, which are large enough for several segments
// and for what the optimizer does with statistics.
func TestRandomTPCH(t *testing.T) {
	seed, count, sf := uint64(1), 60, 0.02
	if s := os.Getenv("BENCH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("BENCH_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	d, err := openDuck()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	b := &both{k: openKelpie(), plain: openKelpie(), d: d}
	if err := d.load(tpch.Tables(), sf); err != nil {
		t.Fatal(err)
	}
	call := fmt.Sprintf("CALL tpch(sf => %g)", sf)
	for _, x := range []struct {
		e   engine
		sql string
	}{
		{d, "SET default_null_order = 'nulls_last_on_asc_first_on_desc'"}, {d, "SET integer_division = true"}, {d, "SET threads = 2"},
		{b.k, call}, {b.k, "SET check = on"}, {b.plain, "SET dictionaries = off; SET narrow_integers = off"}, {b.plain, call},
	} {
		if err := x.e.drain(x.sql); err != nil {
			t.Fatal(err)
		}
	}
	was := shapes
	t.Cleanup(func() { shapes = was })
	shapes = nil
	for _, s := range was {
		s.morsel *= 97
		shapes = append(shapes, s)
	}
	tally := map[string]int{}
	for i := range count {
		g := &sqlGen{r: rand.New(rand.NewPCG(seed+uint64(i), 13))}
		sql := g.tpchQuery()
		verdict, detail := b.compare(sql)
		tally[verdict]++
		if detail != "" {
			t.Errorf("BENCH_SEED=%d BENCH_COUNT=1: %s\n%s\n%s", seed+uint64(i), verdict, sql, detail)
		}
	}
	t.Logf("seeds %d to %d: %v", seed, seed+uint64(count)-1, tally)
}
