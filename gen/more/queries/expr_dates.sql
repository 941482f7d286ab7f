-- delays in days, months of dates, intervals
select extract(month from l_shipdate) as m, avg(l_receiptdate - l_shipdate), max(l_receiptdate - l_commitdate),
       sum(case when l_receiptdate > l_commitdate + interval '30 days' then 1 else 0 end), count(distinct date_trunc('quarter', l_commitdate))
from lineitem group by 1 order by 1
