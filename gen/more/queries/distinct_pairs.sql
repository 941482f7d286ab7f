-- 800 000 distinct pairs out of 6 million
select count(*), sum(l_partkey % 1000) from (select distinct l_partkey, l_suppkey from lineitem) as p
