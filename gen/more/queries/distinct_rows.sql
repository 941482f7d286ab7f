-- distinct rows handed out
select distinct o_custkey, o_orderpriority from orders where o_orderdate >= date '1995-01-01'
