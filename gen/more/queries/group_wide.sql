-- 40 aggregates of 40 columns
select t1,
       min(n1), avg(d1), max(n2), sum(d2), avg(n3), min(d3), sum(n4), max(d4),
       min(n5), avg(d5), max(n6), sum(d6), avg(n7), min(d7), sum(n8), max(d8),
       min(n9), avg(d9), max(n10), sum(d10), avg(n11), min(d11), sum(n12), max(d12),
       min(n13), avg(d13), max(n14), sum(d14), avg(n15), min(d15), sum(n16), max(d16),
       min(n17), avg(d17), max(n18), sum(d18), avg(n19), min(d19), sum(n20), max(d20)
from wide group by t1 order by t1
