-- revenue by year, month and weekday
select extract(year from o_orderdate) as y, extract(month from o_orderdate) as m, extract(dow from o_orderdate) as w, count(*), sum(o_totalprice)
from orders group by 1, 2, 3 order by 1, 2, 3
