package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// Table is a table of the benchmark.
type Table = gen.Table

// Tables lists the tables so that a table comes after those that its foreign keys point to.
func Tables() []Table {
	return []Table{
		{
			Name: "region",
			Columns: []gen.Column{
				{Name: "r_regionkey", Type: "INTEGER"},
				{Name: "r_name", Type: "VARCHAR(25)"},
				{Name: "r_comment", Type: "VARCHAR(152)"},
			},
			PrimaryKey: []string{"r_regionkey"},
			Source:     dbgen.Rows{N: fixed(5), F: fillRegion},
		},
		{
			Name: "nation",
			Columns: []gen.Column{
				{Name: "n_nationkey", Type: "INTEGER"},
				{Name: "n_name", Type: "VARCHAR(25)"},
				{Name: "n_regionkey", Type: "INTEGER"},
				{Name: "n_comment", Type: "VARCHAR(152)"},
			},
			PrimaryKey: []string{"n_nationkey"},
			Source:     dbgen.Rows{N: fixed(25), F: fillNation},
		},
		{
			Name: "supplier",
			Columns: []gen.Column{
				{Name: "s_suppkey", Type: "INTEGER"},
				{Name: "s_name", Type: "VARCHAR(25)"},
				{Name: "s_address", Type: "VARCHAR(40)"},
				{Name: "s_nationkey", Type: "INTEGER"},
				{Name: "s_phone", Type: "VARCHAR(15)"},
				{Name: "s_acctbal", Type: "DECIMAL(15,2)"},
				{Name: "s_comment", Type: "VARCHAR(101)"},
			},
			PrimaryKey: []string{"s_suppkey"},
			Source:     dbgen.Rows{N: suppliers, F: fillSupplier},
		},
		{
			Name: "customer",
			Columns: []gen.Column{
				{Name: "c_custkey", Type: "INTEGER"},
				{Name: "c_name", Type: "VARCHAR(25)"},
				{Name: "c_address", Type: "VARCHAR(40)"},
				{Name: "c_nationkey", Type: "INTEGER"},
				{Name: "c_phone", Type: "VARCHAR(15)"},
				{Name: "c_acctbal", Type: "DECIMAL(15,2)"},
				{Name: "c_mktsegment", Type: "VARCHAR(10)"},
				{Name: "c_comment", Type: "VARCHAR(117)"},
			},
			PrimaryKey: []string{"c_custkey"},
			Source:     dbgen.Rows{N: customers, F: fillCustomer},
		},
		{
			Name: "part",
			Columns: []gen.Column{
				{Name: "p_partkey", Type: "INTEGER"},
				{Name: "p_name", Type: "VARCHAR(55)"},
				{Name: "p_mfgr", Type: "VARCHAR(25)"},
				{Name: "p_brand", Type: "VARCHAR(10)"},
				{Name: "p_type", Type: "VARCHAR(25)"},
				{Name: "p_size", Type: "INTEGER"},
				{Name: "p_container", Type: "VARCHAR(10)"},
				{Name: "p_retailprice", Type: "DECIMAL(15,2)"},
				{Name: "p_comment", Type: "VARCHAR(23)"},
			},
			PrimaryKey: []string{"p_partkey"},
			Source:     dbgen.Rows{N: parts, F: fillPart},
		},
		{
			Name: "partsupp",
			Columns: []gen.Column{
				{Name: "ps_partkey", Type: "INTEGER"},
				{Name: "ps_suppkey", Type: "INTEGER"},
				{Name: "ps_availqty", Type: "INTEGER"},
				{Name: "ps_supplycost", Type: "DECIMAL(15,2)"},
				{Name: "ps_comment", Type: "VARCHAR(199)"},
			},
			PrimaryKey: []string{"ps_partkey", "ps_suppkey"},
			Source:     dbgen.Rows{N: partsupps, F: fillPartsupp},
		},
		{
			Name: "orders",
			Columns: []gen.Column{
				{Name: "o_orderkey", Type: "BIGINT"},
				{Name: "o_custkey", Type: "INTEGER"},
				{Name: "o_orderstatus", Type: "VARCHAR(1)"},
				{Name: "o_totalprice", Type: "DECIMAL(15,2)"},
				{Name: "o_orderdate", Type: "DATE"},
				{Name: "o_orderpriority", Type: "VARCHAR(15)"},
				{Name: "o_clerk", Type: "VARCHAR(15)"},
				{Name: "o_shippriority", Type: "INTEGER"},
				{Name: "o_comment", Type: "VARCHAR(79)"},
			},
			PrimaryKey: []string{"o_orderkey"},
			Source:     dbgen.Rows{N: orders, F: fillOrders},
		},
		{
			Name: "lineitem",
			Columns: []gen.Column{
				{Name: "l_orderkey", Type: "BIGINT"},
				{Name: "l_partkey", Type: "INTEGER"},
				{Name: "l_suppkey", Type: "INTEGER"},
				{Name: "l_linenumber", Type: "INTEGER"},
				{Name: "l_quantity", Type: "DECIMAL(15,2)", Whole: true},
				{Name: "l_extendedprice", Type: "DECIMAL(15,2)"},
				{Name: "l_discount", Type: "DECIMAL(15,2)"},
				{Name: "l_tax", Type: "DECIMAL(15,2)"},
				{Name: "l_returnflag", Type: "VARCHAR(1)"},
				{Name: "l_linestatus", Type: "VARCHAR(1)"},
				{Name: "l_shipdate", Type: "DATE"},
				{Name: "l_commitdate", Type: "DATE"},
				{Name: "l_receiptdate", Type: "DATE"},
				{Name: "l_shipinstruct", Type: "VARCHAR(25)"},
				{Name: "l_shipmode", Type: "VARCHAR(10)"},
				{Name: "l_comment", Type: "VARCHAR(44)"},
			},
			PrimaryKey: []string{"l_orderkey", "l_linenumber"},
			Source:     lineitemSource{},
		},
	}
}
