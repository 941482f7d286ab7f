-- the row of the greatest value
select count(*), sum(k), max(d) from (select o_custkey, arg_max(o_orderkey, o_totalprice) as k, max(o_orderdate) as d from orders group by o_custkey) as x
