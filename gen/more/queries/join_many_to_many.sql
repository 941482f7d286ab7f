-- friends of friends: both sides have many rows per key
select a.weight % 10 as w, count(*), sum(b.weight) from edges as a join edges as b on a.dst = b.src where a.weight < 500 and b.weight >= 300 group by 1 order by 1
