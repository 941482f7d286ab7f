-- averages of the others
select count(*), sum(a) from (select avg(o_totalprice) over (partition by o_custkey order by o_orderdate, o_orderkey rows between 5 preceding and 5 following exclude current row) as a from orders) as x
