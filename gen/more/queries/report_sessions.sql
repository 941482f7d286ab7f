-- length of sessions by day
select date_trunc('day', first) as day, count(*) as sessions, avg(n) as hits, max(n) as most, sum(case when n = 1 then 1 else 0 end) as bounced
from (select session_id, min(ts) as first, count(*) as n from events group by session_id) as s group by 1 order by 1
