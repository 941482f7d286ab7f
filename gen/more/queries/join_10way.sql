-- ten relations: who buys from whom, across regions
select r1.r_name as buyer, r2.r_name as seller, count(*) as n, sum(l_extendedprice * (1 - l_discount)) as revenue
from lineitem join orders on o_orderkey = l_orderkey join customer on c_custkey = o_custkey join nation as n1 on n1.n_nationkey = c_nationkey
join region as r1 on r1.r_regionkey = n1.n_regionkey join supplier on s_suppkey = l_suppkey join nation as n2 on n2.n_nationkey = s_nationkey
join region as r2 on r2.r_regionkey = n2.n_regionkey join part on p_partkey = l_partkey join partsupp on ps_partkey = l_partkey and ps_suppkey = l_suppkey
where o_orderdate >= date '1996-01-01' and p_size < 25 and ps_availqty > 1000 and c_acctbal > 0
group by 1, 2 order by 1, 2
