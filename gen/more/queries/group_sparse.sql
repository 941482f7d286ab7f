-- 64-bit keys that need hashing
select session_id, count(*) as n, min(ts) as first, max(ts) as last from events group by session_id having count(*) >= 3 order by n desc, session_id limit 200
