-- all 16 columns, 10 % of the rows pass, scattered
select * from lineitem where l_quantity <= 5
