-- first and last values of frames
select sum(a), sum(b) from (select first_value(o_orderkey) over w as a, last_value(o_orderkey) over w as b from orders window w as (partition by o_custkey order by o_orderdate, o_orderkey rows between 3 preceding and 3 following)) as x
