-- dense ranks, and how many rows are of the first
select r, count(*), sum(k) from (select dense_rank() over (partition by l_shipmode order by l_quantity desc) as r, l_suppkey as k from lineitem) as x where r <= 3 group by r order by r
