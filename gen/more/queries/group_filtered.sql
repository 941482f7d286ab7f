-- many conditional aggregates
select country, count(*) as n, sum(case when kind = 'purchase' then amount end) as revenue, sum(case when ok then 0 else 1 end) as failed,
       count(case when kind = 'view' then 1 end) as views, avg(case when kind = 'cart' and ok then amount end) as cart,
       max(case when kind = 'login' then ts end) as login, min(case when kind in ('search', 'view') and not ok then amount end) as low
from events group by country order by n desc, country
