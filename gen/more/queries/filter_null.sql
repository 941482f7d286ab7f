-- IS NULL, IS DISTINCT FROM, and comparisons of mostly missing values
select count(*), count(rare), count(half), sum(filled)
from gaps
where (rare is not null or half is null) and (ratio is null or ratio > 3) and rare is distinct from half and (day is null or day < date '2023-01-01')
