-- partitions by text, the first and the last of each
select count(*), count(distinct f), count(distinct l) from (select first_value(event_id) over (partition by url order by ts, event_id) as f, last_value(event_id) over (partition by url order by ts, event_id rows between unbounded preceding and unbounded following) as l from events) as x
