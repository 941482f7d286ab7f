-- sorts by a text, a date and a number
select o_orderpriority, o_orderdate, o_orderkey from orders order by o_orderpriority desc, o_orderdate, o_orderkey limit 500000
