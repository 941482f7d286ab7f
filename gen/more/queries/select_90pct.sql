-- 16 columns of every kind out of 60, 90 % of the rows pass
select id, n1, n2, n5, n11, d1, d2, d7, d13, t1, t3, t6, t9, m1, m4, m9 from wide where n6 >= 1
