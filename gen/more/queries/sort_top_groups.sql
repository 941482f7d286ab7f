-- the greatest rows of a long sort
select l_orderkey, l_linenumber, l_extendedprice from lineitem order by l_extendedprice desc, l_orderkey, l_linenumber limit 1000 offset 100000
