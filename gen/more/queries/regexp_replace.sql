-- digits taken out of texts
select count(*), sum(length(regexp_replace(url, '[0-9]+', '#'))) from events where event_id <= 500000
