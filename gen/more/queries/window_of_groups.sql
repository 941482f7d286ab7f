-- windows over groups
select country, kind, n, r from (select country, kind, count(*) as n, rank() over (partition by kind order by count(*) desc, country) as r, sum(count(*)) over (partition by country) as t from events group by country, kind) as x where r <= 3 and t > 10 order by kind, r
