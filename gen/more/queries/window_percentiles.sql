-- percent ranks and quartiles in 25 partitions
select n_name, count(*), sum(q), cast(max(p) as decimal(10, 6)) from (select c_nationkey, ntile(4) over (partition by c_nationkey order by c_acctbal, c_custkey) as q, percent_rank() over (partition by c_nationkey order by c_acctbal) as p from customer) as x, nation where n_nationkey = c_nationkey group by n_name order by n_name
