-- medians of groups
select l_returnflag, l_linestatus, percentile_cont(0.5) within group (order by cast(l_extendedprice as double precision)) as m, percentile_cont(0.95) within group (order by cast(l_quantity as double precision)) as p from lineitem group by 1, 2 order by 1, 2
