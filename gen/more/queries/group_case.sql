-- a histogram by CASE
select case when l_extendedprice < 1000 then '0: below 1k' when l_extendedprice < 5000 then '1: 1k to 5k' when l_extendedprice < 20000 then '2: 5k to 20k'
            when l_extendedprice < 50000 then '3: 20k to 50k' else '4: above' end as bucket,
       case when l_discount = 0 then 'none' when l_discount <= 0.05 then 'low' else 'high' end as discount,
       count(*), sum(l_extendedprice * (1 - l_discount)), avg(l_quantity)
from lineitem group by 1, 2 order by 1, 2
