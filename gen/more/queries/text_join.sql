-- texts as keys: the same code twice
select count(*), min(a.id), sum(b.id - a.id) from docs as a join docs as b on a.code = b.code and a.id < b.id where a.body like '%draft'
