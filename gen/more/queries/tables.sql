-- What TPC-H lacks: skewed keys, NULLs, doubles, timestamps, booleans, sparse 64-bit keys, long texts, many columns,
-- many-to-many relations. {n} is n rows at scale factor 1. Integer arithmetic only, so that both engines make the same
-- rows: i * 48271 % 2147483647 and the like are the old multiplicative generators, good enough to look random.

-- Zipf's law by halves: j is uniform, the key uniform in [2^j, 2^(j+1)), so a key k comes with frequency about 1/k.
create table events as
select i as event_id,
       cast(p + b % p as integer) as user_id,
       case a % 16 when 0 then 'purchase' when 1 then 'cart' when 2 then 'cart' when 3 then 'search' when 4 then 'search' when 5 then 'login'
            when 6 then 'logout' when 7 then 'error' else 'view' end as kind,
       timestamp '2025-01-01 00:00:00' + (i * 3 + a % 60) * interval '1 second' as ts,
       case when b % 10 < 3 then null else cast(a % 100000 as double precision) / 64 end as amount,
       c % 4194304 * 1099511628211 + 7 as session_id,
       a % 100 < 93 as ok,
       case when c % 64 < 32 then 'US' when c % 64 < 48 then 'DE' when c % 64 < 56 then 'FR' else 'C' || cast(c % 40 as text) end as country,
       'https://www.example.com/' || case a % 5 when 0 then 'shop' when 1 then 'blog' when 2 then 'help' when 3 then 'account/settings' else 'search' end
           || '/item-' || cast(b % 50000 as text) || '?utm_source=' || case c % 4 when 0 then 'mail' when 1 then 'ads' else 'direct' end as url
from (select i, a, b, c, case a % 18 when 0 then 1 when 1 then 2 when 2 then 4 when 3 then 8 when 4 then 16 when 5 then 32 when 6 then 64
             when 7 then 128 when 8 then 256 when 9 then 512 when 10 then 1024 when 11 then 2048 when 12 then 4096 when 13 then 8192
             when 14 then 16384 when 15 then 32768 when 16 then 65536 else 131072 end as p
      from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b, i * 16807 % 2147483587 as c
            from (select cast(i as bigint) as i from generate_series(1, {2000000}) as g(i)) as s) as x) as y;

create table users as
select cast(i as integer) as user_id,
       'user' || cast(a % 1000000 as text) || '@' || case b % 3 when 0 then 'mail.example' when 1 then 'post.example' else 'corp.example' end as email,
       case when b % 64 < 32 then 'US' when b % 64 < 48 then 'DE' when b % 64 < 56 then 'FR' else 'C' || cast(b % 40 as text) end as country,
       date '2024-01-01' + cast(a % 366 as integer) as signup,
       case when a % 10 < 8 then null when b % 2 = 0 then 'pro' else 'team' end as plan,
       case when b % 5 = 0 then null else cast(18 + a % 70 as integer) end as age,
       cast(a % 10007 as double precision) / 10007 as score
from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b from (select cast(i as bigint) as i from generate_series(1, 262143) as g(i)) as s) as x;

-- Keys spread over 64 bits: nothing can be addressed directly.
create table sessions as
select i % 4194304 * 1099511628211 + 7 as session_id,
       case a % 4 when 0 then 'phone' when 1 then 'tablet' else 'desktop' end as device,
       cast(a % 86400 as integer) as seconds
from (select i * 11 as i, i * 48271 % 2147483647 as a from (select cast(i as bigint) as i from generate_series(0, {350000}) as g(i)) as s) as x;

create table edges as
select cast(q + b % q as integer) as src, cast(1 + a % 60000 as integer) as dst, cast(b % 1000 as integer) as weight
from (select i, a, b, case b % 6 when 0 then 1000 when 1 then 2000 when 2 then 4000 when 3 then 8000 when 4 then 16000 else 30000 end as q
      from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b from (select cast(i as bigint) as i from generate_series(1, {400000}) as g(i)) as s) as x) as y;

create table gaps as
select i as id,
       case when a % 10 = 0 then cast(b % 1000 as integer) end as rare,
       case when b % 2 = 0 then cast(a % 100 as integer) end as half,
       case when b % 20 = 1 then cast(a % 4096 as double precision) / 256 end as ratio,
       case when a % 10 < 3 then 'tag' || cast(b % 25 as text) end as tag,
       case when a % 5 < 2 then date '2020-01-01' + cast(b % 1500 as integer) end as day,
       cast(a % 77 as integer) as filled
from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b from (select cast(i as bigint) as i from generate_series(1, {2000000}) as g(i)) as s) as x;

create table docs as
select i as id,
       'k' || cast(a % 800000 as text) || '-' || cast(a % 997 as text) || case b % 3 when 0 then '-north' when 1 then '-south-east' else '' end as code,
       case when a % 3 = 0 then 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor ' else 'Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris ' end
           || cast(b as text) || case when b % 100 = 0 then ' incididunt ut labore et dolore ' else ' nisi ut aliquip ex ea commodo consequat ' end || cast(a as text)
           || case when a % 7 = 0 then ' FINAL' else ' draft' end as body
from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b from (select cast(i as bigint) as i from generate_series(1, {600000}) as g(i)) as s) as x;

create table bands as
select cast(i as integer) as band, cast(i * 25 as double precision) as low, cast(i * 25 + 25 as double precision) as high
from generate_series(0, 79) as g(i);

create table wide as
select i as id, cast((a + 7919) % 100 as integer) as n1,
       cast((a + 15838) % 1000 as integer) as n2, cast((a + 23757) % 10000 as integer) as n3,
       cast((a + 31676) % 100000 as integer) as n4, cast((a + 39595) % 1000000 as integer) as n5,
       cast((a + 47514) % 10 as integer) as n6, cast((a + 55433) % 100 as integer) as n7,
       cast((a + 63352) % 1000 as integer) as n8, cast((a + 71271) % 10000 as integer) as n9,
       cast((a + 79190) % 100000 as integer) as n10, cast((a + 87109) % 1000000 as integer) as n11,
       cast((a + 95028) % 10 as integer) as n12, cast((a + 102947) % 100 as integer) as n13,
       cast((a + 110866) % 1000 as integer) as n14, cast((a + 118785) % 10000 as integer) as n15,
       cast((a + 126704) % 100000 as integer) as n16, cast((a + 134623) % 1000000 as integer) as n17,
       cast((a + 142542) % 10 as integer) as n18, cast((a + 150461) % 100 as integer) as n19,
       cast((a + 158380) % 1000 as integer) as n20, cast((b + 104729) % 1000 as double precision) / 2 as d1,
       cast((b + 209458) % 2000 as double precision) / 4 as d2, cast((b + 314187) % 3000 as double precision) / 6 as d3,
       cast((b + 418916) % 4000 as double precision) / 8 as d4, cast((b + 523645) % 5000 as double precision) / 10 as d5,
       cast((b + 628374) % 6000 as double precision) / 12 as d6, cast((b + 733103) % 7000 as double precision) / 14 as d7,
       cast((b + 837832) % 8000 as double precision) / 16 as d8, cast((b + 942561) % 9000 as double precision) / 18 as d9,
       cast((b + 1047290) % 10000 as double precision) / 20 as d10, cast((b + 1152019) % 11000 as double precision) / 22 as d11,
       cast((b + 1256748) % 12000 as double precision) / 24 as d12, cast((b + 1361477) % 13000 as double precision) / 26 as d13,
       cast((b + 1466206) % 14000 as double precision) / 28 as d14, cast((b + 1570935) % 15000 as double precision) / 30 as d15,
       cast((b + 1675664) % 16000 as double precision) / 32 as d16, cast((b + 1780393) % 17000 as double precision) / 34 as d17,
       cast((b + 1885122) % 18000 as double precision) / 36 as d18, cast((b + 1989851) % 19000 as double precision) / 38 as d19,
       cast((b + 2094580) % 20000 as double precision) / 40 as d20, 'v1-' || cast((a + 31) % 4 as text) as t1,
       'v2-' || cast((a + 62) % 16 as text) as t2, 'v3-' || cast((a + 93) % 64 as text) as t3,
       'v4-' || cast((a + 124) % 256 as text) as t4, 'v5-' || cast((a + 155) % 1024 as text) as t5,
       'v6-' || cast((a + 186) % 4096 as text) as t6, 'v7-' || cast((a + 217) % 16384 as text) as t7,
       'v8-' || cast((a + 248) % 40000 as text) as t8, 'v9-' || cast((a + 279) % 40000 as text) as t9,
       case when (b + 1) % 2 = 0 then null else cast((a + 1) % 100 as integer) end as m1, case when (b + 2) % 3 = 0 then null else cast((a + 2) % 200 as integer) end as m2,
       case when (b + 3) % 4 = 0 then null else cast((a + 3) % 300 as integer) end as m3, case when (b + 4) % 5 = 0 then null else cast((a + 4) % 400 as integer) end as m4,
       case when (b + 5) % 6 = 0 then null else cast((a + 5) % 500 as integer) end as m5, case when (b + 6) % 7 = 0 then null else cast((a + 6) % 600 as integer) end as m6,
       case when (b + 7) % 8 = 0 then null else cast((a + 7) % 700 as integer) end as m7, case when (b + 8) % 9 = 0 then null else cast((a + 8) % 800 as integer) end as m8,
       case when (b + 9) % 10 = 0 then null else cast((a + 9) % 900 as integer) end as m9, case when (b + 10) % 11 = 0 then null else cast((a + 10) % 1000 as integer) end as m10
from (select i, i * 48271 % 2147483647 as a, i * 69621 % 2147483629 as b from (select cast(i as bigint) as i from generate_series(1, {300000}) as g(i)) as s) as x;
