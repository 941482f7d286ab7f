-- the mean of seven rows, one partition
select count(*), cast(max(m) as decimal(20, 2)), cast(min(m) as decimal(20, 2)) from (select avg(o_totalprice) over (order by o_orderdate, o_orderkey rows between 6 preceding and current row) as m from orders) as x
