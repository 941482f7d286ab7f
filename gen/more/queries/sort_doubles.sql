-- sorts by a double with NULLs
select count(*), sum(event_id * (n % 7)) from (select event_id, row_number() over (order by amount desc nulls last, event_id) as n from events) as x
