-- short IN lists of texts and integers
select l_shipmode, l_shipinstruct, count(*), avg(l_extendedprice)
from lineitem
where l_shipmode in ('AIR', 'REG AIR', 'SHIP') and l_shipinstruct in ('NONE', 'COLLECT COD') and l_suppkey not in (17, 99, 4711, 8000)
  and l_linenumber in (1, 3, 5)
group by l_shipmode, l_shipinstruct order by l_shipmode, l_shipinstruct
