-- a page far down a long list
select o_orderkey, o_orderdate, o_totalprice from orders order by o_orderdate, o_totalprice desc, o_orderkey limit 1000 offset 1000000
