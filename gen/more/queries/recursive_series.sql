-- a chain of numbers
with recursive r(n, s) as (select cast(1 as bigint), cast(1 as bigint) union all select n + 1, (s * 48271) % 2147483647 from r where n < 100000) select count(*), sum(s) from r
