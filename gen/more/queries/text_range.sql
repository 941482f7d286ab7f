-- texts compared by order
select substring(code, 1, 2) as head, count(*), min(code), max(code)
from docs where code >= 'k25' and code < 'k61' and code <> 'k300000-900' group by substring(code, 1, 2) order by head
