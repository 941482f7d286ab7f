-- ranks of 1.5 million rows, all in one partition
select max(r), sum(r), max(d), sum(d) from (select rank() over (order by o_orderdate) as r, dense_rank() over (order by o_orderdate) as d from orders) as x
