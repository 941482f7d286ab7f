-- nodes reachable from some, each once
with recursive r as (select distinct dst as n from edges where src = 1000 union select e.dst from edges as e, r where e.src = r.n) select count(*), sum(n) from r
