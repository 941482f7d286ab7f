-- 6 million rows, running sums in 10 000 partitions
select max(s), min(s), count(*) from (select sum(l_quantity) over (partition by l_suppkey order by l_shipdate, l_orderkey, l_linenumber) as s from lineitem) as x
