-- texts cut into lists
select count(*), sum(len(string_split(url, '/'))) from events where event_id <= 500000
