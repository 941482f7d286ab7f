-- NULL is a group; most inputs are NULL
select tag, half, count(*), count(rare), sum(rare), avg(ratio), min(day), max(day) from gaps group by tag, half order by tag, half
