-- the best customers of a segment
select c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) as revenue
from customer join orders on o_custkey = c_custkey join lineitem on l_orderkey = o_orderkey
where c_mktsegment = 'MACHINERY' and l_returnflag <> 'A' group by c_custkey, c_name order by revenue desc, c_custkey limit 20
