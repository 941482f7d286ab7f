package parse

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Each row is a query and how it prints; "" means as it is.
var queryTests = []struct{ in, out string }{
	{"select 1", "SELECT 1"},
	{"SELECT a, b AS c, d e, f \"G\" FROM t", `SELECT a, b AS c, d AS e, f AS "G" FROM t`},
	{"select a as select, b as value, c year, d as name, e nation from t",
		`SELECT a AS "select", b AS value, c AS year, d AS name, e AS nation FROM t`},
	{"select distinct a from t", "SELECT DISTINCT a FROM t"},
	{"select distinct on (a, b) c from t", "SELECT DISTINCT ON (a, b) c FROM t"},
	{"select all a from t", "SELECT a FROM t"},
	{"select *, t.*, s.t.* from t", "SELECT *, t.*, s.t.* FROM t"},
	{"select * exclude (a, b) replace (c + 1 as c) from t", "SELECT * EXCLUDE (a, b) REPLACE (c + 1 AS c) FROM t"},
	{"select t.* exclude a from t", "SELECT t.* EXCLUDE (a) FROM t"},
	{"select * except select 1", "SELECT * EXCEPT SELECT 1"},

	// FROM.
	{"select sum(x) from lineorder, date where lo_orderdate = d_datekey", "SELECT sum(x) FROM lineorder, date WHERE lo_orderdate = d_datekey"},
	{"select 1 from date d, date as e (x, y)", "SELECT 1 FROM date AS d, date AS e (x, y)"},
	{"from t", "SELECT * FROM t"},
	{"from t where a", "SELECT * FROM t WHERE a"},
	{"from t select a where b limit 1", "SELECT a FROM t WHERE b LIMIT 1"},
	{"table t", "SELECT * FROM t"},
	{"from 'x.parquet'", "SELECT * FROM 'x.parquet'"},
	{"select * from 'a''b.csv' as f(a)", "SELECT * FROM 'a''b.csv' AS f (a)"},
	{"from read_csv('x', header => true) t", "SELECT * FROM read_csv('x', header => TRUE) AS t"},
	{"from generate_series(1, 3) with ordinality as g(a, b)", "SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS g (a, b)"},
	{"from (values (1, 'a'), (2, 'b')) as v(x, y)", "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)"},
	{"from values (1), (2) v(x)", "SELECT * FROM (VALUES (1), (2)) AS v (x)"},
	{"values (1, 2), (3, 4) order by 1", "VALUES (1, 2), (3, 4) ORDER BY 1"},
	{"from (select 1) x", "SELECT * FROM (SELECT 1) AS x"},
	{"from ((select 1) union (select 2)) x", "SELECT * FROM (SELECT 1 UNION SELECT 2) AS x"},
	{"from ((select 1)) x", "SELECT * FROM (SELECT 1) AS x"},
	{"from ((select 1) x join t on true)", "SELECT * FROM (SELECT 1) AS x JOIN t ON TRUE"},
	{"from (a cross join b) as j (c, d)", "SELECT * FROM (a CROSS JOIN b) AS j (c, d)"},
	{"from a, lateral (select a.x) b, lateral f(a.x) c", "SELECT * FROM a, LATERAL (SELECT a.x) AS b, LATERAL f(a.x) AS c"},
	{"from a join b on a.x = b.x left join c using (y, z)", "SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y, z)"},
	{"from a left outer join b on true right outer join c on true full join d on true",
		"SELECT * FROM a LEFT JOIN b ON TRUE RIGHT JOIN c ON TRUE FULL JOIN d ON TRUE"},
	{"from a natural join b natural left join c cross join d", "SELECT * FROM a NATURAL JOIN b NATURAL LEFT JOIN c CROSS JOIN d"},
	{"from a semi join b on a.x = b.x anti join c using (x)", "SELECT * FROM a SEMI JOIN b ON a.x = b.x ANTI JOIN c USING (x)"},
	{"from a as asof join b on true, c asof, d \"positional\" join e on true", "SELECT * FROM a AS asof JOIN b ON TRUE, c AS asof, d AS positional JOIN e ON TRUE"},
	{"from a semi, b anti", "SELECT * FROM a AS semi, b AS anti"},
	{"from a inner join b inner join c on c.x on b.x", "SELECT * FROM a JOIN (b JOIN c ON c.x) ON b.x"},
	{"from a join (b join c on c.x) on b.x", "SELECT * FROM a JOIN (b JOIN c ON c.x) ON b.x"},
	{"from only t", "SELECT * FROM t"},

	// Words that are types or functions elsewhere, as names.
	{"select time, timestamp, interval, position, values, row, exists, date.d_year, t.order from t, date",
		`SELECT "time", "timestamp", "interval", "position", "values", "row", "exists", date.d_year, t."order" FROM t, date`},
	{"select a from t group by year, name order by year desc, value", "SELECT a FROM t GROUP BY year, name ORDER BY year DESC, value"},
	{"select n.nspname from pg_catalog.pg_class c where c.relname operator(pg_catalog.~) '^(t)$' collate pg_catalog.default and c.oid = any (i.indkey)",
		`SELECT n.nspname FROM pg_catalog.pg_class AS c WHERE c.relname ~ '^(t)$' COLLATE pg_catalog."default" AND c.oid = ANY (i.indkey)`},

	// Shapes and samples.
	{"pivot t on a in (1, 2 as b), c || 'x' using sum(d) as s, count(*) group by e order by 1 limit 1", "PIVOT t ON a IN (1, 2 AS b), c || 'x' USING sum(d) AS s, count(*) GROUP BY e ORDER BY 1 LIMIT 1"},
	{"select * from t pivot (sum(a) for b in (1) c in (2) group by d) p", "SELECT * FROM (PIVOT t ON b IN (1), c IN (2) USING sum(a) GROUP BY d) AS p"},
	{"unpivot t on a, (b, c) as x into name n value v", "UNPIVOT t ON a, (b, c) AS x INTO NAME n VALUE v"},
	{"select * from t unpivot include nulls ((v, w) for n in ((a, b)))", "SELECT * FROM (UNPIVOT t ON (a, b) INTO INCLUDE NULLS NAME n VALUE v, w)"},
	{"with p as (summarize t) from (summarize select 1)", "WITH p AS (SUMMARIZE SELECT * FROM t) SELECT * FROM (SUMMARIZE SELECT 1)"},
	{"select pivot, unpivot(summarize) from summarize pivot, unpivot", "SELECT pivot, unpivot(summarize) FROM summarize AS pivot, unpivot"},
	{"from t x tablesample bernoulli(10) repeatable (3) join u tablesample 5% (system, 4) using (a) using sample 3", "SELECT * FROM t AS x TABLESAMPLE bernoulli(10 PERCENT) REPEATABLE (3) JOIN u TABLESAMPLE system(5 PERCENT) REPEATABLE (4) USING (a) USING SAMPLE 3 ROWS"},
	{"from a asof left join b on a.x >= b.x, asof", "SELECT * FROM a ASOF LEFT JOIN b ON a.x >= b.x, asof"},
	{"select 1 union all by name select 2", "SELECT 1 UNION ALL BY NAME SELECT 2"},
	{"select 1 limit 5% offset 1", "SELECT 1 LIMIT 5% OFFSET 1"},
	{"select columns(* exclude (a)) from t where a in (1, 2,)", "SELECT columns(* EXCLUDE (a)) FROM t WHERE a IN (1, 2)"},

	// Grouping, windows.
	{"select a from t group by a, b + 1 having count(*) > 1", "SELECT a FROM t GROUP BY a, b + 1 HAVING count(*) > 1"},
	{"select a from t group by all order by all desc", "SELECT a FROM t GROUP BY ALL ORDER BY ALL DESC"},
	{"select a from t group by rollup (a, (b, c)), cube(d), grouping sets ((a, b), a, (), rollup(c))",
		"SELECT a FROM t GROUP BY ROLLUP (a, (b, c)), CUBE (d), GROUPING SETS ((a, b), a, (), ROLLUP (c))"},
	{"select grouping(a) from t group by ()", "SELECT grouping(a) FROM t GROUP BY ()"},
	{"select sum(a) over w from t window w as (partition by b), v as (w order by c)",
		"SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b), v AS (w ORDER BY c)"},
	{"select a from t qualify row_number() over (order by a) = 1", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1"},

	// Set operations.
	{"select 1 union select 2 intersect select 3", "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3"},
	{"(select 1 union select 2) intersect select 3", "(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3"},
	{"select 1 except all select 2 union distinct select 3", "SELECT 1 EXCEPT ALL SELECT 2 UNION SELECT 3"},
	{"select 1 except (select 2 union select 3)", "SELECT 1 EXCEPT (SELECT 2 UNION SELECT 3)"},
	{"select 1 union (select 2 order by 1 limit 1) order by 1", "SELECT 1 UNION (SELECT 2 ORDER BY 1 LIMIT 1) ORDER BY 1"},
	{"((select 1))", "SELECT 1"},
	{"(select 1 limit 1) limit 2", "(SELECT 1 LIMIT 1) LIMIT 2"},
	{"(with x as (select 1) table x) union table y", "(WITH x AS (SELECT 1) SELECT * FROM x) UNION SELECT * FROM y"},

	// ORDER BY, LIMIT.
	{"select a from t order by a asc nulls first, 2 desc, b nulls last", "SELECT a FROM t ORDER BY a NULLS FIRST, 2 DESC, b NULLS LAST"},
	{"select a from t limit 10 offset 5", "SELECT a FROM t LIMIT 10 OFFSET 5"},
	{"select a from t offset 5 rows limit all", "SELECT a FROM t OFFSET 5"},
	{"select a from t fetch first 3 rows only", "SELECT a FROM t LIMIT 3"},
	{"select a from t offset 1 row fetch next row only", "SELECT a FROM t LIMIT 1 OFFSET 1"},
	{"select a from t order by a fetch first $1 rows with ties", "SELECT a FROM t ORDER BY a FETCH FIRST ($1) ROWS WITH TIES"},

	// WITH.
	{"with recursive r (n) as (select 1 union all select n + 1 from r), s as not materialized (table r) select * from s",
		"WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r), s AS NOT MATERIALIZED (SELECT * FROM r) SELECT * FROM s"},
	{"with recursive as materialized (select 1) table recursive", "WITH recursive AS MATERIALIZED (SELECT 1) SELECT * FROM recursive"},
}

func TestQuery(t *testing.T) {
	for _, c := range queryTests {
		q := parseQuery(t, c.in)
		if q == nil {
			continue
		}
		got := ast.FormatQuery(q)
		if got != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.out)
		}
		if again := parseQuery(t, got); again != nil {
			if a, b := dump(q, true), dump(again, true); a != b {
				t.Errorf("%s prints as %s, which reads back as another tree\n%s\n%s", c.in, got, a, b)
			}
		}
	}
}

func parseQuery(t *testing.T, text string) *ast.Query {
	t.Helper()
	script, err := Parse(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return nil
	}
	q, ok := script[0].Stmt.(*ast.Query)
	if len(script) != 1 || !ok {
		t.Errorf("%s: got %s", text, dump(script, false))
		return nil
	}
	return q
}
