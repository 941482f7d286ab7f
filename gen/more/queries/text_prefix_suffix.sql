-- beginnings and ends of texts
select count(*), count(distinct code) from docs where (code like 'k12%' or code like 'k7%') and code like '%-north'
