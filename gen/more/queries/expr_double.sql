-- deep arithmetic in doubles
select count(*), sum(sqrt((d1 - d2) * (d1 - d2) + (d3 - d4) * (d3 - d4))), avg((d5 + d6 * 2.5e0) / (d7 + 1e0) - d8 * d9 / (d10 + 3e0)),
       max(abs(d11 - d12) * floor(d13) + ceil(d14 / 7e0)), sum(case when d15 > d16 then d15 - d16 else d16 * 0.5e0 end)
from wide where d17 * d18 < 4e6 * (1e0 + d19 / (d20 + 1e0))
