-- gaps between the events of a user: lag in skewed partitions
select count(*), count(p), sum(case when p is null or ts > p + interval '30 minutes' then 1 else 0 end) from (select ts, lag(ts) over (partition by user_id order by ts, event_id) as p from events) as x
