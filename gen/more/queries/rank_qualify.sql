-- the newest row of each key, by QUALIFY
select count(*), sum(event_id) from (select event_id from events qualify row_number() over (partition by user_id order by ts desc, event_id) = 1) as x
