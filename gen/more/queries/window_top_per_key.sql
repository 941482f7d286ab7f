-- the three dearest items of each supplier, out of 6 million
select l_suppkey, l_orderkey, l_linenumber, l_extendedprice, n from (select l_suppkey, l_orderkey, l_linenumber, l_extendedprice, row_number() over (partition by l_suppkey order by l_extendedprice desc, l_orderkey, l_linenumber) as n from lineitem) as x where n <= 3 order by l_suppkey, n
