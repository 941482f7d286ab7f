-- 2 million rows of five columns by double and timestamp, NULLs last
select amount, ts, user_id, kind, country from events where amount is null or amount > 100 order by amount nulls last, ts desc, event_id
