-- amounts to bands by BETWEEN: no key
select band, count(*), sum(amount) from events join bands on amount >= low and amount < high where kind = 'purchase' group by band order by band
