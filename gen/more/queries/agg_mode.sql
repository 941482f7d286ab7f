-- the most frequent value of groups
select count(*), sum(m) from (select l_suppkey, mode() within group (order by l_quantity) as m from lineitem group by l_suppkey) as x
