-- customers with what they ordered in a quarter, those without too
select n_name, count(*) as customers, count(o_orderkey) as orders, sum(coalesce(o_totalprice, 0)) as total, sum(case when o_orderkey is null then 1 else 0 end) as idle
from customer left join orders on o_custkey = c_custkey and o_orderdate >= date '1996-01-01' and o_orderdate < date '1996-04-01' and o_orderpriority <> '5-LOW'
join nation on n_nationkey = c_nationkey where c_acctbal > -500 group by n_name order by n_name
