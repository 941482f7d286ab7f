-- medians of skewed groups, with NULLs
select count(*), sum(m) from (select country, kind, median(amount) as m from events group by 1, 2) as x
