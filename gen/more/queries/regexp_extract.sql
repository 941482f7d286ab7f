-- a part of a text
select regexp_extract(url, 'utm_source=([a-z]+)', 1) as s, count(*) from events where event_id <= 500000 group by 1 order by 1
