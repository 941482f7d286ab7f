-- 1.5 million groups, few survive HAVING
select l_orderkey, sum(l_quantity) as q, count(*) as n from lineitem group by l_orderkey having sum(l_quantity) > 280 order by q desc, l_orderkey
