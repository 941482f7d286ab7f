-- medians of many groups
select count(*), sum(m) from (select o_custkey, percentile_cont(0.5) within group (order by cast(o_totalprice as double precision)) as m from orders group by o_custkey) as x
