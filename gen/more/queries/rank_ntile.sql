-- deciles
select t, count(*), sum(p), min(p) from (select ntile(10) over (order by o_totalprice, o_orderkey) as t, o_totalprice as p from orders) as x group by t order by t
