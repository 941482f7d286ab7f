-- two aggregates side by side
select coalesce(a.d, b.d) as d, a.n, b.n, a.total from
  (select o_orderdate as d, count(*) as n, sum(o_totalprice) as total from orders where o_orderpriority = '1-URGENT' group by o_orderdate) as a
  full join (select l_shipdate as d, count(*) as n from lineitem where l_shipmode = 'TRUCK' group by l_shipdate) as b on a.d = b.d
order by 1
