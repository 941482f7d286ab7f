-- the largest of 201 neighbours, with NULLs
select count(*), count(m), sum(m), min(n) from (select max(amount) over (partition by country order by event_id rows between 100 preceding and 100 following) as m, min(amount) over (partition by country order by event_id rows between 100 preceding and 100 following) as n from events) as x
