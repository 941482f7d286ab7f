-- the 100 dearest lines, with ties broken
select l_orderkey, l_linenumber, l_extendedprice, l_shipdate, l_comment from lineitem order by l_extendedprice desc, l_orderkey, l_linenumber limit 100
