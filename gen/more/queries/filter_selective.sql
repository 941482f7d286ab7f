-- five conditions, few rows pass
select count(*), sum(l_extendedprice * l_discount), max(l_commitdate)
from lineitem
where l_quantity between 11 and 13 and l_discount = 0.03 and l_tax = 0.02 and l_shipmode = 'RAIL' and l_returnflag = 'R'
