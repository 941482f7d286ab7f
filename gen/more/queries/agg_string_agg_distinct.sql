-- distinct texts of a group
select count(*), sum(length(s)) from (select user_id, string_agg(distinct kind, '|' order by kind) as s from events group by user_id) as x
