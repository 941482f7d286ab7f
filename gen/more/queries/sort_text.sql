-- 600 000 rows by text and number
select code, id from docs order by code desc, id
