-- orders far above the average of their customer
select o_orderpriority, count(*), sum(o_totalprice) from orders as o
where o_totalprice > 1.5 * (select avg(o_totalprice) from orders as i where i.o_custkey = o.o_custkey) group by o_orderpriority order by o_orderpriority
