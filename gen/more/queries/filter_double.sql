-- ranges of doubles and timestamps
select count(*), sum(amount), avg(amount), max(ts)
from events
where amount > 700.5 and amount < 1300.25 and ts >= timestamp '2025-01-20 00:00:00' and ts < timestamp '2025-02-20 12:00:00' and ok
