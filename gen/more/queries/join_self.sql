-- parts that are ordered together
select a.l_shipmode, b.l_shipmode, count(*), sum(a.l_quantity - b.l_quantity)
from lineitem as a join lineitem as b on a.l_orderkey = b.l_orderkey and a.l_linenumber < b.l_linenumber
where a.l_returnflag = 'R' group by 1, 2 order by 1, 2
