-- shares of a total, by customers in a subquery with HAVING
select n_name, count(*) as n, sum(o_totalprice) / (select sum(o_totalprice) from orders) as share
from orders join customer on c_custkey = o_custkey join nation on n_nationkey = c_nationkey
where o_custkey in (select o_custkey from orders group by o_custkey having count(*) > 20) group by n_name order by n_name
