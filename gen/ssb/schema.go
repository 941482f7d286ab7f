package ssb

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
			Name: "customer",
			Columns: []gen.Column{
				{Name: "c_custkey", Type: "INTEGER"},
				{Name: "c_name", Type: "VARCHAR(25)"},
				{Name: "c_address", Type: "VARCHAR(25)"},
				{Name: "c_city", Type: "VARCHAR(10)"},
				{Name: "c_nation", Type: "VARCHAR(15)"},
				{Name: "c_region", Type: "VARCHAR(12)"},
				{Name: "c_phone", Type: "VARCHAR(15)"},
				{Name: "c_mktsegment", Type: "VARCHAR(10)"},
			},
			PrimaryKey: []string{"c_custkey"},
			Source:     dbgen.Rows{N: customers, F: fillCustomer},
		},
		{
			Name: "supplier",
			Columns: []gen.Column{
				{Name: "s_suppkey", Type: "INTEGER"},
				{Name: "s_name", Type: "VARCHAR(25)"},
				{Name: "s_address", Type: "VARCHAR(25)"},
				{Name: "s_city", Type: "VARCHAR(10)"},
				{Name: "s_nation", Type: "VARCHAR(15)"},
				{Name: "s_region", Type: "VARCHAR(12)"},
				{Name: "s_phone", Type: "VARCHAR(15)"},
			},
			PrimaryKey: []string{"s_suppkey"},
			Source:     dbgen.Rows{N: suppliers, F: fillSupplier},
		},
		{
			Name: "part",
			Columns: []gen.Column{
				{Name: "p_partkey", Type: "INTEGER"},
				{Name: "p_name", Type: "VARCHAR(22)"},
				{Name: "p_mfgr", Type: "VARCHAR(6)"},
				{Name: "p_category", Type: "VARCHAR(7)"},
				{Name: "p_brand1", Type: "VARCHAR(9)"},
				{Name: "p_color", Type: "VARCHAR(11)"},
				{Name: "p_type", Type: "VARCHAR(25)"},
				{Name: "p_size", Type: "INTEGER"},
				{Name: "p_container", Type: "VARCHAR(10)"},
			},
			PrimaryKey: []string{"p_partkey"},
			Source:     dbgen.Rows{N: parts, F: fillPart},
		},
		{
			Name: "date",
			Columns: []gen.Column{
				{Name: "d_datekey", Type: "INTEGER"},
				{Name: "d_date", Type: "VARCHAR(18)"},
				{Name: "d_dayofweek", Type: "VARCHAR(9)"},
				{Name: "d_month", Type: "VARCHAR(9)"},
				{Name: "d_year", Type: "INTEGER"},
				{Name: "d_yearmonthnum", Type: "INTEGER"},
				{Name: "d_yearmonth", Type: "VARCHAR(7)"},
				{Name: "d_daynuminweek", Type: "INTEGER"},
				{Name: "d_daynuminmonth", Type: "INTEGER"},
				{Name: "d_daynuminyear", Type: "INTEGER"},
				{Name: "d_monthnuminyear", Type: "INTEGER"},
				{Name: "d_weeknuminyear", Type: "INTEGER"},
				{Name: "d_sellingseason", Type: "VARCHAR(12)"},
				{Name: "d_lastdayinweekfl", Type: "INTEGER"},
				{Name: "d_lastdayinmonthfl", Type: "INTEGER"},
				{Name: "d_holidayfl", Type: "INTEGER"},
				{Name: "d_weekdayfl", Type: "INTEGER"},
			},
			PrimaryKey: []string{"d_datekey"},
			Source:     dbgen.Rows{N: days, F: fillDate},
		},
		{
			Name: "lineorder",
			Columns: []gen.Column{
				{Name: "lo_orderkey", Type: "BIGINT"},
				{Name: "lo_linenumber", Type: "INTEGER"},
				{Name: "lo_custkey", Type: "INTEGER"},
				{Name: "lo_partkey", Type: "INTEGER"},
				{Name: "lo_suppkey", Type: "INTEGER"},
				{Name: "lo_orderdate", Type: "INTEGER"},
				{Name: "lo_orderpriority", Type: "VARCHAR(15)"},
				{Name: "lo_shippriority", Type: "INTEGER"},
				{Name: "lo_quantity", Type: "INTEGER"},
				{Name: "lo_extendedprice", Type: "INTEGER"},
				{Name: "lo_ordtotalprice", Type: "INTEGER"},
				{Name: "lo_discount", Type: "INTEGER"},
				{Name: "lo_revenue", Type: "INTEGER"},
				{Name: "lo_supplycost", Type: "INTEGER"},
				{Name: "lo_tax", Type: "INTEGER"},
				{Name: "lo_commitdate", Type: "INTEGER"},
				{Name: "lo_shipmode", Type: "VARCHAR(10)"},
			},
			PrimaryKey: []string{"lo_orderkey", "lo_linenumber"},
			Source:     lineorderSource{},
		},
	}
}
