-- EXISTS and NOT EXISTS with further conditions
select c_mktsegment, count(*), avg(c_acctbal) from customer
where exists (select 1 from orders where o_custkey = c_custkey and o_totalprice > 200000 and o_orderdate >= date '1997-01-01')
  and not exists (select 1 from orders where o_custkey = c_custkey and o_orderpriority = '1-URGENT' and o_orderdate < date '1993-01-01')
group by c_mktsegment order by c_mktsegment
