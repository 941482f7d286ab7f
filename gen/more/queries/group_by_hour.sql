-- events by day and hour
select date_trunc('day', ts) as day, extract(hour from ts) as hour, count(*), count(distinct kind), sum(amount)
from events where kind <> 'error' group by 1, 2 order by 1, 2
