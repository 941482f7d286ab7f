-- deviations and correlations
select user_id % 1000 as u, stddev_samp(amount) as s, var_pop(amount) as v, corr(amount, event_id) as c from events where amount is not null group by 1 order by 1
