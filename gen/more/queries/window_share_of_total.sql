-- each item's share of its order: 1.5 million small partitions
select count(*), sum(p) from (select l_extendedprice as p, sum(l_extendedprice) over (partition by l_orderkey) as s from lineitem) as x where p * 2 > s
