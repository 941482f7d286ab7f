-- all 16 columns, 1 % of the rows pass
select * from lineitem where l_shipdate >= date '1995-03-01' and l_shipdate < date '1995-03-26'
