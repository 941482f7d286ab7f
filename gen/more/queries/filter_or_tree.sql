-- alternatives of conjunctions over different columns
select l_returnflag, count(*), sum(l_quantity)
from lineitem
where (l_shipmode = 'AIR' and l_quantity < 10 or l_shipmode = 'MAIL' and l_quantity > 40)
   or (l_discount >= 0.09 and (l_tax = 0 or l_tax = 0.08))
   or (l_shipdate = l_commitdate) or (l_linenumber = 7 and l_extendedprice < 2000)
group by l_returnflag order by l_returnflag
