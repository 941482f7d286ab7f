-- lists made, and taken apart
select u % 10 as k, count(*), sum(u) from (select unnest([half, rare, filled]) as u from gaps) as x where u is not null group by 1 order by 1
