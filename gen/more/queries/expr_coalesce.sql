-- chains of COALESCE, NULLIF, GREATEST
select coalesce(half, rare, filled) % 10 as k, sum(coalesce(rare, half, filled, 0)), count(nullif(filled, 7)), avg(coalesce(ratio, cast(half as double precision), 1.5e0)),
       max(greatest(coalesce(rare, 0), coalesce(half, 0), filled)), count(distinct coalesce(tag, 'none'))
from gaps group by 1 order by 1
