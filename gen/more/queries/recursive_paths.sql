-- paths of three steps, counted
with recursive p(n, hops) as (select dst, 1 from edges where src between 1000 and 1009 union all select e.dst, p.hops + 1 from edges as e, p where e.src = p.n and p.hops < 3) select hops, count(*), sum(n) from p group by hops order by hops
