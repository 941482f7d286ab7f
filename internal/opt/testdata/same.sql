# Queries whose results before and after optimization are compared on random data (same_test.go).
# t(a key, b, c text, d date, e decimal, f double, g bigint, h boolean)
# u(a, x text not null, y decimal, z date)   v(id, k key, name, w)   w(a key, n not null)

# folding and logic
select a from t where b = 1 or b = 2 or b in (2, 3);
select a from t where (b = 1 and c = 'a') or (b = 1 and c = 'b');
select a from t where not (b < 2 or c = 'a');
select a from t where not (b = 1 and c = 'a');
select a from t where b = b;
select a from t where b <> b or b is null;
select a, b is null, (b > 2) is true, coalesce(b, 0), nullif(b, 1) from t;
select a, case when b = 1 then 'x' when b = 2 then 'y' else 'z' end from t where case when b > 1 then true else false end;
select a from t where b in (1, null);
select a from t where b not in (1, null);
select a from t where b not in (1, 2);
select a from t where e < 1 and e > 0.25;
select a from t where c like 'ab%' or c like 'x';
select a from t where 1 = 1 and b > 0;
select a from t where 1 = 2;
select count(*) from t where 1 = 2;
select count(*), sum(b) from t where null;

# joins
select t.a, u.x from t, u where t.a = u.a;
select t.a, u.x from t join u on t.b = u.a where t.b > 2;
select t.a, u.a, v.w from t, u, v where t.b = u.a and u.a = v.id and t.b < 4;
select t.a, u.x from t left join u on t.b = u.a;
select t.a, u.x from t left join u on t.b = u.a where u.x = 'a';
select t.a, u.x from t left join u on t.b = u.a where u.x is null;
select t.a, u.x from t left join u on t.b = u.a and t.c = 'a' and u.y > 1;
select t.a, u.x from t left join u on t.b = u.a where t.b = 2;
select t.a, u.x from t full join u on t.b = u.a;
select t.a, u.x from t full join u on t.b = u.a where t.a > 1;
select t.a, u.x from t full join u on t.b = u.a where u.x > 'a';
select t.a, u.x from t full join u on t.b = u.a where u.x > 'a' and t.a > 1;
select t.a, u.x, w.n from t left join u on t.b = u.a left join w on u.a = w.a;
select t.a, u.x, w.n from t left join u on t.b = u.a join w on u.a = w.a;
select t.a, u.x, w.n from (t left join u on t.b = u.a) join w on coalesce(u.a, 1) = w.a;
select * from t join w on t.b = w.a join v on v.id = w.n and v.k = t.b;
select t.a, v.w from t, v where t.b = v.id and t.g = v.k;
select t.a, u.x from t, u where (t.b = 1 and u.a = 2) or (t.b = 2 and u.a = 1);
select t.a, u.x from t, u where (t.b = u.a and t.c = 'a') or (t.b = u.a and u.x = 'b');
select t.a, w.a from t, w where t.b < w.n and t.a = 3;
select x.a, y.a from t x join t y on x.b = y.b and x.a < y.a;
select s.p, w.n from (select a + 1 as p, b from t where b > 0) s join w on s.p = w.a;
select s.p, w.n from (select t.a + u.a as p, t.b from t join u on t.b = u.a) s join w on s.p = w.a where s.p > 1;
select count(*) from t, u, w;
select t.a from t, u, w where t.a = w.a;

# grouping
select b, count(*), sum(a), avg(a), min(c), max(c) from t group by b;
select b, avg(a), sum(a), count(a), count(b), avg(e), sum(e) from t group by b having count(*) > 1 and b > 0;
select stddev_samp(f), stddev_pop(f), var_samp(b), var_pop(b) from t;
select c, stddev_samp(a) from t group by c;
select count(distinct b) from t;
select c, count(distinct b), sum(distinct b), avg(distinct b) from t group by c;
select c, count(distinct b), count(*), sum(a), avg(e), min(d) from t group by c;
select count(distinct b), count(distinct c), count(*), sum(g) from t;
select c, count(distinct b), count(distinct d), max(a) from t group by c;
select c, count(distinct b) filter (where a > 2), sum(b) filter (where a < 3) from t group by c;
select c, stddev_pop(distinct b), avg(a) from t group by c;
select t.a, t.b, t.c, count(*) from t join u on t.b = u.a group by t.a, t.b, t.c;
select u.a, w.a, w.n, sum(u.y) from u join w on u.a = w.a group by u.a, w.a, w.n;
select v.id, v.k, v.name, count(u.x) from v left join u on u.a = v.w group by v.id, v.k, v.name;
select t.a, w.n, w.a, count(*) from t left join w on t.b = w.a group by t.a, w.n, w.a;
select distinct b, c from t;
select distinct a, b from t;
select distinct v.id, v.k, w.n from v join w on v.w = w.a;
select bool_and(h), bool_or(h), count(h) from t;
select b, any_value(c) is not null or true from t group by b;
select s.b, s.n from (select b, count(*) as n from t group by b) s where s.b > 1 and s.n > 0;
select s.b, u.x from (select b, max(a) as m from t group by b) s join u on s.b = u.a where u.a < 4;

# set operations
select a from t union all select a from u;
select a from t union select a from u;
select b from t intersect select a from u;
select b from t except select a from u;
select b from t intersect all select a from u;
select b from t except all select a from u;
select s.a from (select a, b from t union all select a, a from u) s where s.b = 2;
select s.a from (select b as a from t except select a from u) s where s.a > 1;

# order and limit
select a, b from t order by a;
select a, b from t order by a limit 3;
select a, b + 1 from t order by a desc limit 2 offset 1;
select s.a from (select a from t order by b) s where s.a > 2;
select s.a from (select a, b from t order by a limit 3) s where s.b > 1;
select s.n from (select a, a * 2 as n from t order by a limit 4) s order by n desc limit 2;
select count(*) from (select a from t order by a limit 3) s;

# EXISTS and IN
select a from t where exists (select 1 from u where u.a = t.b);
select a from t where not exists (select 1 from u where u.a = t.b);
select a from t where exists (select 1 from u where u.a = t.b and u.y > t.e);
select a from t where not exists (select 1 from u where u.a <> t.b);
select a from t where exists (select 1 from u);
select a from t where not exists (select 1 from u where u.a > 100);
select a from t where exists (select 1 from u where u.a = t.b) or t.a = 1;
select a, exists (select 1 from u where u.a = t.b) from t;
select a, not exists (select 1 from u where u.a = t.b and u.x = t.c) from t;
select a, exists (select 1 from u) from t;
select a, exists (select count(*) from u where u.a = t.b) from t;
select a from t where exists (select u.a from u where u.a = t.b group by u.a having count(*) > 1);
select a from t where exists (select u.a from u where u.a = t.b order by u.x limit 1);
select a from t where b in (select a from u);
select a from t where b not in (select a from u);
select a from t where b not in (select a from u where a is not null);
select a from t where a not in (select a from w);
select a from t where a not in (select n from w where w.a = t.b);
select a from t where b not in (select u.a from u where u.x = t.c);
select a from t where b in (select u.a from u where u.x = t.c);
select a, b in (select a from u) from t;
select a, b in (select u.a from u where u.x = t.c) from t;
select a, b not in (select u.a from u where u.x = t.c) from t;
select a from t where b in (select a from u) or c = 'a';
select a from t where b not in (select a from u) or c = 'a';
select a from t where (b, c) in (select a, x from u);
select a from t where (b, c) not in (select a, x from u);
select a, (b, c) in (select a, x from u) from t;
select a from t where b in (select max(a) from u);
select a from t where b in (select max(u.a) from u where u.x = t.c);
select a from t where b in (select distinct u.a from u where u.x = t.c);
select a from t where 1 in (select a from u);
select a, 1 in (select a from u) from t;
select a, null in (select a from u) from t;
select case when b in (select a from u) then 1 when b not in (select a from u) then 2 else 3 end from t;

# ANY and ALL
select a from t where b > any (select a from u);
select a from t where b > all (select a from u);
select a from t where b <> any (select a from u);
select a from t where b = all (select a from u);
select a from t where b <= all (select u.a from u where u.x = t.c);
select a from t where b < any (select u.a from u where u.x = t.c);
select a, b > any (select a from u), b >= all (select a from u) from t;
select a, b < any (select u.a from u where u.x = t.c), b <> all (select u.a from u where u.x = t.c) from t;
select a from t where not (b > all (select a from u));
select a from t where not (b > any (select a from u));

# scalar subqueries
select a, (select max(y) from u) from t;
select a, (select max(y) from u where u.a = t.b) from t;
select a, (select count(*) from u where u.a = t.b) from t;
select a, (select count(u.y) + 1 from u where u.a = t.b) from t;
select a, (select coalesce(sum(u.y), 0) from u where u.a = t.b) from t;
select a, (select sum(u.y) from u where u.a = t.b having count(*) > 1) from t;
select a, (select sum(u.y) from u where u.a = t.b having count(*) >= 0) from t;
select a, (select avg(u.a) from u where u.a < t.b) from t;
select a, (select count(*) from u where u.a <> t.b) from t;
select a, (select sum(u.a * t.b) from u where u.a = t.b) from t;
select a, (select n from w where w.a = t.b) from t;
select a, (select n from w where w.a = 3) from t;
select a from t where e > (select avg(y) from u where u.a = t.b);
select a from t where e > (select 0.5 * avg(y) from u where u.a = t.b and u.x = t.c);
select a from t where (select count(*) from u where u.a = t.b) = 0;
select a from t where b = (select min(u.a) from u where u.x = t.c);
select a, (select max(x) from u where u.a = t.b or u.x = t.c) from t;
select a, (select u.x from u where u.a = t.b order by u.x limit 1) from t;
select a, (select u.x from u where u.a = t.b limit 1) is null from t;
select a, (select max(v.w) from v where v.id = t.b and v.k = t.a) from t;
select a, (select max(s.m) from (select max(v.w) as m from v where v.id = t.b group by v.k) s) from t;
select a, (select count(*) from (select distinct u.x from u where u.a = t.b) s) from t;
select a, (select count(*) from u left join w on u.a = w.a where u.x = t.c) from t;
select a, (select count(*) from u left join w on u.a = w.a and w.n = t.b) from t;
select a, (select count(*) from (select a from u where u.a = t.b union all select n from w where w.a = t.b) s) from t;
select a, (select count(*) from (select a from u where u.a = t.b intersect select n from w where w.a <> t.a) s) from t;
select sum((select max(u.a) from u where u.x = t.c)) from t;
select b, (select count(*) from u where u.a = t.b) from t group by b;
select b, sum(a) from t group by b having sum(a) > (select min(u.a) from u where u.a = t.b);
select a, (select max(n) from w where w.a = (select min(u.a) from u where u.x = t.c)) from t;
select a from t where exists (select 1 from u where u.a = t.b and exists (select 1 from w where w.a = u.a and w.n = t.a));
select a from t where exists (select 1 from u where u.a = t.b and u.y > (select avg(y) from u u2 where u2.a = t.b));
select a from t where b in (select u.a from u where u.a not in (select w.n from w where w.a = t.a));
select a from t where (select count(*) from u where u.a = t.b) > (select count(*) from w where w.n = t.b);
select t.a, w.n from t left join w on t.b = w.a and w.n in (select a from u);
select t.a, w.n from t left join w on t.b = w.a and exists (select 1 from u where u.a = t.b);
select t.a, w.n from t join w on t.b = w.a and w.n > (select count(*) from u where u.a = t.b);

# LATERAL
select t.a, s.m from t, lateral (select max(u.y) as m from u where u.a = t.b) s;
select t.a, s.m, s.n from t, lateral (select count(*) as n, max(u.y) as m from u where u.a = t.b) s where s.n > 0;
select t.a, s.x from t, lateral (select u.x from u where u.a = t.b) s;
select t.a, s.x from t left join lateral (select u.x from u where u.a = t.b and u.y > t.e) s on true;
select t.a, s.p from t, lateral (select t.a + u.a as p from u where u.a > t.b) s;
select t.a, s.p from t, lateral (values (t.a), (t.b)) s(p);
select t.a, s.p, r.q from t, lateral (select t.a + 1 as p) s, lateral (select s.p * 2 as q) r;
select t.a, s.m from t left join lateral (select count(*) as m from u where u.a = t.b) s on s.m > 1;

# WITH
with r as (select b, sum(a) as s from t group by b) select x.b, y.s from r x join r y on x.b = y.b;
with r as (select b, sum(a) as s from t group by b) select b from r where s = (select max(s) from r);
with r as (select a, b from t where b > 1) select x.a, y.b from r x join r y on x.a = y.b;
with r as (select t.a, u.x from t join u on t.b = u.a), q as (select x, count(*) as n from r group by x) select r.a, q.n from r join q on r.x = q.x where q.n > (select avg(n) from q);
with r as (select a from t) select count(*) from r;

# common subplans and reducers
select x.b, x.s, y.m from (select b, sum(t.a) as s from t join u on t.b = u.a group by b) x join (select b, max(t.a) as m from t join u on t.b = u.a group by b) y on x.b = y.b;
select t.a from t join w on t.b = w.a join (select id, sum(w) as s from v group by id) g on g.id = w.a where w.n = 2;
select t.a from t, w, v where t.b = w.a and v.id = w.a and w.n = 1 and t.a in (select a from u);
select t.a, v.w from t left join v on t.b = v.id where exists (select 1 from w where w.a = t.b and w.n = 3);
select t.a from t where t.b in (select v.id from v join w on v.k = w.a where w.n = 2) and t.e > (select avg(y) from u where u.a = t.b);

# more
select b, c, count(*), sum(a) from t group by rollup (b, c);
select b, c, grouping(b), max(a) from t group by cube (b, c);
select b, c, count(distinct a) from t group by grouping sets ((b), (c), ());
select s.b, s.n from (select b, c, count(*) as n from t group by rollup (b, c)) s where s.b = 2;
select distinct on (b) b, b is null from t;
select a from (values (1, 2), (3, null), (null, 4)) s(a, b) where b > 1 or a = 3;
select t.a, s.y from t join (values (1, 'x'), (2, 'y')) s(x, y) on t.b = s.x;
select a, (select count(*) from (values (1), (t.b), (t.a)) s(x) where s.x > 1) from t;
select a, (select sum(s.x) from (select u.a as x from u full join w on u.a = w.a and w.n = t.b) s) from t;
select a, (select count(*) from u full join w on u.a = w.a where u.a = t.b) from t;
select a from t where b in (select a from u union select n from w);
select a from t where b in (select a from u union all select n from w where w.a = t.a);
select a from t where b not in (select a from u intersect select n from w);
select a from t where exists (select a from u where u.a = t.b except select n from w where w.a = t.a);
select a, b from t order by b nulls first, a limit 4;
select a, b, c from t where a in (select a from t where b > 1) order by c, a limit 3;
select count(*) from t where (b > 1) is not true and (c like 'a%') is not false;
select t.a, u.x from t join u on t.b + 1 = u.a and t.e < u.y;
select t.a, u.x from t left join u on t.b = u.a and u.x <> t.c left join w on w.a = t.b and w.n > 2 where coalesce(u.x, 'z') > 'a';
select t.a from t left join u on t.b = u.a where u.a is null and t.a > 1;
select t.a from t left join w on t.b = w.a where w.n is null;
select t.a, w.n from t left join w on t.b = w.a where w.n is null;
select t.a from t left join (select a, count(*) as n from u group by a) s on t.b = s.a where s.n is null;
select t.a, s.n from t left join (select a, count(*) as n from u group by a) s on t.b = s.a;
select max(t.a) from t left join v on t.b = v.id and t.g = v.k;
select t.a, x.n + y.n from t, w x, w y where t.b = x.a and x.n = y.a and y.n = t.a;
select t.a from t, u, v, w where t.b = u.a and u.a = v.id and v.k = w.a and w.n = t.a;
select t.a from t where t.b = (select max(b) from t) and t.a <= all (select a from t t2 where t2.b = t.b);
select u.x, sum(t.e) from t join u on t.b = u.a where t.e > (select avg(e) from t t2 where t2.b = t.b) group by u.x having count(*) > (select count(*) from w where w.n > 4);
select t.c, sum(case when exists (select 1 from u where u.a = t.b) then 1 else 0 end) from t group by t.c;
select sum(t.a) filter (where t.b in (select a from u)), count(*) from t;
select a from t where (select b) > 1;
select a, (select max(x) from (select u.x from u where u.a = t.b union all select c from t t2 where t2.b = t.a) s) from t;
with r as (select a, b from t), s as (select r.a, count(*) as n from r join u on r.b = u.a group by r.a) select r.a, (select max(n) from s where s.a <= r.a) from r where exists (select 1 from s where s.a = r.a);
select t.a, s.c1, s.c2 from t, lateral (select count(*) as c1, (select count(*) from w where w.n = t.b) as c2 from u where u.a = t.b) s;
select t.a, s.x, r.n from t left join lateral (select u.x, u.a from u where u.a = t.b) s on true left join lateral (select count(*) as n from w where w.a = s.a) r on true;
