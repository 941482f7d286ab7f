-- distinct users by day
select date_trunc('day', ts) as day, count(distinct user_id) as users, count(distinct session_id) as sessions, count(*) as n from events group by 1 order by 1
