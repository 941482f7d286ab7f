-- 6 million rows in order
select l_extendedprice, l_orderkey, l_linenumber from lineitem order by l_extendedprice desc, l_orderkey, l_linenumber
