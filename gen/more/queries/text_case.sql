-- a class by patterns
select case when url like '%/blog/%' then 'blog' when url like '%/shop/%ads' then 'shop by ad' when url like '%account%' then 'account' else 'other' end as class,
       count(*), count(distinct user_id)
from events group by 1 order by 1
