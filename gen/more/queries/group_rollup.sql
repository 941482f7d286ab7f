-- subtotals by region, nation and year
select r_name, n_name, extract(year from o_orderdate) as y, count(*), sum(o_totalprice)
from orders join customer on c_custkey = o_custkey join nation on n_nationkey = c_nationkey join region on r_regionkey = n_regionkey
group by rollup (r_name, n_name, extract(year from o_orderdate)) order by r_name, n_name, y
