-- Zipf keys: one user has a million times the rows of another
select user_id, count(*) as n, sum(amount) as total, max(ts) as last from events group by user_id order by n desc, user_id limit 100
