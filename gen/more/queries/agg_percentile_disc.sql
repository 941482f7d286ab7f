-- a discrete percentile of all rows
select percentile_disc(0.9) within group (order by l_extendedprice), percentile_disc(0.1) within group (order by l_shipdate) from lineitem
