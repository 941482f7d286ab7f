-- half a million text keys
select code, count(*) as n, min(id) as first from docs group by code order by n desc, code limit 50
