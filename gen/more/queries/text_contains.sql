-- LIKE inside of long texts
select count(*), min(id), max(length(body)) from docs where body like '%labore et dolore%' and body not like '%FINAL'
