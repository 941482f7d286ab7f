-- texts of a group in an order
select count(*), sum(length(s)), max(s) from (select o_custkey, string_agg(o_orderpriority, ',' order by o_orderdate, o_orderkey) as s from orders group by o_custkey) as x
