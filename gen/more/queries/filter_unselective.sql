-- five conditions, each of which most rows pass
select count(*), sum(l_extendedprice), min(l_shipdate)
from lineitem
where l_quantity < 48 and l_discount <> 0.05 and l_tax <= 0.07 and l_shipdate > date '1992-06-01' and l_receiptdate < date '1998-09-01'
