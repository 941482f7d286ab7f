-- texts put together, cut and replaced
select country || '/' || upper(kind) as key, count(*), min(replace(url, 'https://www.', '')) as first
from events where event_id % 4 = 0 group by country || '/' || upper(kind) order by 2 desc, 1 limit 20
