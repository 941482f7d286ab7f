-- a funnel: how many users got how far
select u.plan, count(*) as users, sum(case when f.cart > f.view then 1 else 0 end) as carts, sum(case when f.buy > f.cart and f.cart > f.view then 1 else 0 end) as buyers
from (select user_id, min(case when kind = 'view' then ts end) as view, min(case when kind = 'cart' then ts end) as cart, max(case when kind = 'purchase' then ts end) as buy
      from events group by user_id) as f join users as u on u.user_id = f.user_id
group by u.plan order by u.plan
