-- few long texts
select l_shipmode, length(string_agg(l_linestatus, '' order by l_orderkey, l_linenumber)) as n from lineitem group by l_shipmode order by 1
