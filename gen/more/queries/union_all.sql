-- one report from four tables
select what, count(*), sum(x), min(day), max(day) from (
    select 'order' as what, o_orderdate as day, o_totalprice as x from orders where o_orderstatus = 'F'
    union all select 'line', l_shipdate, l_extendedprice from lineitem where l_quantity > 45
    union all select 'return', l_receiptdate, -l_extendedprice from lineitem where l_returnflag = 'R' and l_quantity > 40
    union all select 'customer', date '2000-01-01', c_acctbal from customer) as u
group by what order by what
