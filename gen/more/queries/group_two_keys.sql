-- 800 000 groups of two keys, in no useful order
select l_partkey, l_suppkey, sum(l_extendedprice) as s, avg(l_discount) as d from lineitem
group by l_partkey, l_suppkey order by s desc, l_partkey, l_suppkey limit 100
