-- lists of a group, and their lengths
select count(*), sum(len(l)), max(len(l)) from (select user_id, array_agg(event_id) as l from events group by user_id) as x
