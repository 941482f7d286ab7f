-- prices per piece, remainders, rounding
select l_orderkey % 100 as slot, sum(round(l_extendedprice / l_quantity, 2)), max(l_partkey / 1000 + l_suppkey % 7), sum(cast(l_extendedprice as integer) / 7)
from lineitem group by l_orderkey % 100 order by slot
