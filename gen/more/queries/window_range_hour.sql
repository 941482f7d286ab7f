-- events of the same kind in the hour before
select kind, max(c), sum(c) from (select kind, count(*) over (partition by kind order by ts range between interval '1 hour' preceding and current row) as c from events) as x group by kind order by kind
