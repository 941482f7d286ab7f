-- cohorts: users by month of sign-up and month of activity
select date_trunc('month', signup) as cohort, date_trunc('month', ts) as month, count(distinct e.user_id) as active, sum(amount) as total
from events as e join users as u on u.user_id = e.user_id where kind in ('view', 'cart', 'purchase') group by 1, 2 order by 1, 2
