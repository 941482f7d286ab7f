-- eleven relations, four of them small lookups by the same table
select u.country, count(*) as n, sum(e.amount) as total, max(b4.band) as top
from events as e join users as u on u.user_id = e.user_id join sessions as s on s.session_id = e.session_id join docs as d on d.id = e.event_id
join wide as w on w.id = d.id join gaps as g on g.id = w.id join bands as b1 on b1.band = w.n1 join bands as b2 on b2.band = w.m1 % 80
join bands as b3 on b3.band = g.half join bands as b4 on b4.band = g.filled join nation on n_nationkey = w.n7 % 25
where s.device <> 'tablet' and u.score > 0.25 group by u.country order by n desc, u.country limit 15
