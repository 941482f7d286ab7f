-- the difference to the row before
select count(*), sum(d), max(d) from (select event_id - lag(event_id) over (partition by user_id order by event_id) as d from events) as x
