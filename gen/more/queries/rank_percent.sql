-- percent ranks and distributions
select count(*), sum(p), sum(c) from (select percent_rank() over (partition by country order by amount) as p, cume_dist() over (partition by country order by amount) as c from events where amount is not null) as x
