-- host and path out of a URL, domain out of a mail address
select substring(url, 9, strpos(substring(url, 9), '/') - 1) as host, upper(right(url, 4)) as tail, count(*), avg(length(url))
from events where lower(url) like '%/shop/%' group by 1, 2 order by 3 desc, 2
