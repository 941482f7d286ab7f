-- 64-bit keys that need hashing; one event in twelve has a session, one in four of those a phone
select kind, count(*), sum(seconds), avg(amount) from events as e join sessions as s on s.session_id = e.session_id where device = 'phone' group by kind order by kind
