-- deep decimal arithmetic
select l_returnflag, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax) - l_quantity * 10.5),
       sum((l_extendedprice - l_extendedprice * l_discount) * 0.19 + l_extendedprice * l_tax * (1 - l_discount) * 0.5),
       max(l_extendedprice * l_extendedprice - l_quantity * l_quantity * 1000)
from lineitem where l_extendedprice * (1 - l_discount) > 20000 + l_quantity * 100 group by l_returnflag order by l_returnflag
