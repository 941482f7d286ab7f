package parse

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Each row is an expression and how it prints: parentheses show the tree wherever the
// ladder of precedences was climbed otherwise than the printer expects. "" means that
// the text prints as it is.
var exprTests = []struct{ in, out string }{
	// Precedence.
	{"1 + 2 * 3", ""},
	{"(1 + 2) * 3", ""},
	{"1 - 2 - 3", ""},
	{"1 - (2 - 3)", ""},
	{"2 ^ 3 ^ 4", ""},
	{"2 ^ (3 ^ 4)", ""},
	{"-2 ^ 2", ""},
	{"-(2 ^ 2)", ""},
	{"- - 1", "-(-1)"},
	{"-a::int", ""},
	{"(-a)::int", ""},
	{"a or b and not c = d", "a OR b AND NOT c = d"},
	{"(a or b) and c", "(a OR b) AND c"},
	{"not a and b", "NOT a AND b"},
	{"not (a and b)", "NOT (a AND b)"},
	{"not not a", "NOT NOT a"},
	{"a = b is null", "a = b IS NULL"},
	{"a = (b is null)", "a = (b IS NULL)"},
	{"a is null = b", "(a IS NULL) = b"},
	{"a + b < c || d", "a + b < c || d"},
	{"a < b + c between d and e", "a < b + c BETWEEN d AND e"},
	{"a || b + c", ""},
	{"(a || b) + c", ""},
	{"~ a || b", ""},
	{"~ (a || b)", ""},
	{"a -> 'b' ->> 'c'", ""},
	{"a%-1", "a % -1"},
	{"a!=-1", "a <> -1"},
	{"a==b", "a = b"},
	{"a*-b", "a * -b"},
	{"x operator(pg_catalog.~) '^a'", "x ~ '^a'"},
	{"a = not b", "a = (NOT b)"},

	// Predicates.
	{"a isnull", "a IS NULL"},
	{"a notnull", "a IS NOT NULL"},
	{"a is not null", "a IS NOT NULL"},
	{"a is true and b is not false or c is unknown", "a IS TRUE AND b IS NOT FALSE OR c IS UNKNOWN"},
	{"a is distinct from b + 1", "a IS DISTINCT FROM b + 1"},
	{"a is not distinct from null", "a IS NOT DISTINCT FROM NULL"},
	{"a between 1 and 2 and b", "a BETWEEN 1 AND 2 AND b"},
	{"a not between symmetric 1+1 and 2", "a NOT BETWEEN SYMMETRIC 1 + 1 AND 2"},
	{"a in (1, 2, 3)", "a IN (1, 2, 3)"},
	{"a not in (1)", "a NOT IN (1)"},
	{"(a, b) in ((1, 2), (3, 4))", "(a, b) IN ((1, 2), (3, 4))"},
	{"a in (select b from t)", "a IN (SELECT b FROM t)"},
	{"a in ((select 1))", "a IN (SELECT 1)"},
	{"a in ((select 1), 2)", "a IN ((SELECT 1), 2)"},
	{"a in ((select 1) union (select 2))", "a IN (SELECT 1 UNION SELECT 2)"},
	{"a like 'x%' escape '\\'", `a LIKE 'x%' ESCAPE '\'`},
	{"a not ilike b || '%'", "a NOT ILIKE b || '%'"},
	{"a similar to 'x|y'", "a SIMILAR TO 'x|y'"},
	{"a not similar to 'x' escape '#'", "a NOT SIMILAR TO 'x' ESCAPE '#'"},
	{"a ~ 'x' and b !~* 'y'", "a ~ 'x' AND b !~* 'y'"},
	{"a = any (select 1)", "a = ANY (SELECT 1)"},
	{"a <> some (select 1)", "a <> ANY (SELECT 1)"},
	{"a >= all (array[1, 2])", "a >= ALL (ARRAY[1, 2])"},
	{"a not like any ($1)", "a not like ANY ($1)"},
	{"exists (select * from t)", "EXISTS (SELECT * FROM t)"},
	{"not exists (select 1)", "NOT EXISTS (SELECT 1)"},

	// Literals.
	{"100.00", ""},
	{".5", ""},
	{"5.", ""},
	{"1e10", ""},
	{"1.5E-3", ""},
	{"1_000_000", "1000000"},
	{"0xff", "255"},
	{"123456789012345678901234567890", ""},
	{"'it''s'", ""},
	{`E'a\n\t\x41\101\u00e4\'\\'`, "'a\n\tAA\u00e4''\\'"},
	{`e'\U0001F600\ud83d\ude00'`, "'\U0001F600\U0001F600'"},
	{"$$it's$$", "'it''s'"},
	{"$q$a$$b$q$", "'a$$b'"},
	{"'a'\n  'b' -- more\n 'c'", "'abc'"},
	{"N'x'", "'x'"},
	{"true and false or null", "TRUE AND FALSE OR NULL"},
	{"date '1998-09-02'", ""},
	{"timestamp '2020-01-01 00:00:00'", ""},
	{"timestamp with time zone '2020-01-01'", "timestamptz '2020-01-01'"},
	{"timestamp(3) without time zone '2020-01-01'", "timestamp(3) '2020-01-01'"},
	{"time '10:00'", ""},
	{"double precision '1.5'", ""},
	{"numeric(4,2) '1.5'", ""},
	{"character varying(3) 'abc'", "varchar(3) 'abc'"},
	{"character(3) 'abc'", "char(3) 'abc'"},
	{"pg_catalog.date 'x'", ""},
	{"mytype 'x'", ""},
	{"interval '3' month", "INTERVAL '3' MONTH"},
	{"interval '3 months'", "INTERVAL '3 months'"},
	{"interval 3 month", "INTERVAL (3) MONTH"},
	{"interval (a + 1) days", "INTERVAL (a + 1) DAY"},
	{"interval '1-2' year to month", "INTERVAL '1-2' YEAR TO MONTH"},
	{"interval '1.23' second(2)", "INTERVAL '1.23' SECOND(2)"},
	{"interval (3) '1 second'", "INTERVAL (3) '1 second'"},
	{"date '1994-01-01' + interval '1' year", "date '1994-01-01' + INTERVAL '1' YEAR"},
	{"$1 + ?", "$1 + $1"},

	// Casts, subscripts, fields, zones.
	{"cast(a as decimal(15, 2))", "a::decimal(15,2)"},
	{"try_cast('x' as int)", "TRY_CAST('x' AS int)"},
	{"a::double precision::text", ""},
	{"a::timestamp with time zone", "a::timestamptz"},
	{"a::timestamp at time zone 'utc'", "a::timestamp AT TIME ZONE 'utc'"},
	{"a at time zone b || c", "a AT TIME ZONE b || c"},
	{"a at local", "a AT LOCAL"},
	{"a::int[]", ""},
	{"a::int array", "a::int[]"},
	{"a::interval year to month", ""},
	{"(a::int[])[1]", ""},
	{"a[1][2:3]", "a[1][2 : 3]"},
	{"a[:2]", "a[ : 2]"},
	{"(r).f", ""},
	{"a collate \"C\" < b", "a COLLATE \"C\" < b"},

	// Functions.
	{"count(*)", ""},
	{"f()", ""},
	{"pg_catalog.now()", ""},
	{"count(distinct a)", "count(DISTINCT a)"},
	{"sum(all a)", "sum(a)"},
	{"string_agg(a, ',' order by b desc nulls last)", "string_agg(a, ',' ORDER BY b DESC NULLS LAST)"},
	{"sum(a) filter (where b > 0)", "sum(a) FILTER (WHERE b > 0)"},
	{"percentile_cont(0.5) within group (order by a)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)"},
	{"f(a, n => 1, m := 2)", "f(a, n => 1, m => 2)"},
	{"f(a, variadic b)", "f(a, VARIADIC b)"},
	{"left('abc', 2) || right('abc', 1)", ""},
	{"coalesce(a, b) + nullif(a, 0) + greatest(1, 2) + least(1, 2)", ""},
	{"extract(year from d)", "EXTRACT(year FROM d)"},
	{"extract('Epoch' from d)", "EXTRACT(epoch FROM d)"},
	{"substring(a from 1 for 2)", "substring(a, 1, 2)"},
	{"substring(a for 2)", "substring(a, 1, 2)"},
	{"substring(a, 1, 2)", ""},
	{"position('b' in a)", "POSITION('b' IN a)"},
	{"trim(a)", "btrim(a)"},
	{"trim(leading 'x' from a)", "ltrim(a, 'x')"},
	{"trim(trailing from a)", "rtrim(a)"},
	{"trim(both from a)", "btrim(a)"},
	{"trim('x' from a)", "btrim(a, 'x')"},
	{"overlay(a placing 'b' from 2 for 3)", "overlay(a, 'b', 2, 3)"},
	{"current_date - 1", ""},
	{"current_timestamp(3)", ""},
	{"date(a)", ""},
	{"date", ""},
	{"value + year + name + nation", ""},

	// Windows.
	{"row_number() over ()", "row_number() OVER ()"},
	{"sum(a) over w", "sum(a) OVER w"},
	{"sum(a) over (w order by b)", "sum(a) OVER (w ORDER BY b)"},
	{"sum(a) over (partition by b, c order by d rows 1 preceding)",
		"sum(a) OVER (PARTITION BY b, c ORDER BY d ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"},
	{"sum(a) over (order by d range between unbounded preceding and interval '1' day following exclude ties)",
		"sum(a) OVER (ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' DAY FOLLOWING EXCLUDE TIES)"},
	{"sum(a) over (groups between current row and unbounded following)",
		"sum(a) OVER (GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"},
	{"lag(a ignore nulls) over w", "lag(a) IGNORE NULLS OVER w"},

	// The rest.
	{"case when a then 1 end", "CASE WHEN a THEN 1 END"},
	{"case a when 1 then 'x' when 2 then 'y' else 'z' end", "CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END"},
	{"(select max(a) from t)", "(SELECT max(a) FROM t)"},
	{"((select 1))", "(SELECT 1)"},
	{"((select 1) + 1) * 2", "((SELECT 1) + 1) * 2"},
	{"((select 1) limit 1)", "(SELECT 1 LIMIT 1)"},
	{"(((select 1)) union all ((select 2)))", "(SELECT 1 UNION ALL SELECT 2)"},
	{"array[1, 2]", "ARRAY[1, 2]"},
	{"[1, [2]]", "ARRAY[1, ARRAY[2]]"},
	{"array(select 1)", "ARRAY(SELECT 1)"},
	{"row(1)", "ROW(1)"},
	{"row(1, 2) = (3, 4)", "(1, 2) = (3, 4)"},
	{`"Select".a."b c"`, `"Select".a."b c"`},
	{"A.B.C", "a.b.c"},
	{"/* a /* nested */ comment */ 1 -- end", "1"},
	{"\ufeff1", "1"},
}

func TestExpr(t *testing.T) {
	for _, c := range exprTests {
		want := c.out
		if want == "" {
			want = c.in
		}
		e, err := ParseExpr(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		got := ast.Format(e)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, want)
		}
		again, err := ParseExpr(got)
		if err != nil {
			t.Errorf("%s prints as %s, which does not parse: %v", c.in, got, err)
		} else if a, b := dump(e, true), dump(again, true); a != b && !strings.Contains(c.in, "?") {
			t.Errorf("%s prints as %s, which reads back as another tree\n%s\n%s", c.in, got, a, b)
		}
	}
}

func TestExprPositions(t *testing.T) {
	e, err := ParseExpr("a + f(b)  <> 'x'")
	if err != nil {
		t.Fatal(err)
	}
	ne := e.(*ast.Binary)
	plus := ne.L.(*ast.Binary)
	call := plus.R.(*ast.Func)
	for _, c := range []struct {
		node ast.Node
		want int
	}{{ne, 10}, {ne.R, 13}, {plus, 2}, {plus.L, 0}, {call, 4}, {call.Args[0].X, 6}} {
		if got := c.node.Position(); got != c.want {
			t.Errorf("%s: position %d, want %d", dump(c.node, true), got, c.want)
		}
	}
}

func TestType(t *testing.T) {
	for in, want := range map[string]string{
		"INT": "int", "double precision": "double precision", "character varying ( 10 )": "varchar(10)",
		"national character varying(5)": "varchar(5)", "char": "char", "timestamp(6) with time zone": "timestamptz(6)",
		"time without time zone": "time", "numeric(3,-1)": "numeric(3,-1)", "text[][3]": "text[][]",
		"interval day to second(3)": "interval day to second(3)", "bit varying(3)": "varbit(3)", "pg_catalog.int4": "pg_catalog.int4",
	} {
		got, err := ParseType(in)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := ParseType("int)"); err == nil {
		t.Error("a type with a loose parenthesis must fail")
	}
}

func TestColumnName(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "t.b": "b", "sum(a)": "sum", "pg_catalog.now()": "now", "1": "?column?", "'x'": "?column?", "a + b": "?column?",
		"case when a then 1 end": "case", "case when a then 1 else b end": "b", "extract(year from d)": "extract",
		"cast('1' as integer)": "int4", "a::text": "a", "sum(a)::int": "sum", "date '2020-01-01'": "date",
		"'1'::double precision": "float8", "interval '1' day": "interval", "true": "bool", "exists (select 1)": "exists",
		"(select max(a) as m from t)": "m", "(select 1)": "?column?", "(select min(a) from t)": "min", "array[1]": "array",
		"row(1)": "row", "coalesce(a, 0)": "coalesce", "current_date": "current_date", "trim(a)": "btrim",
		"substring(a from 1)": "substring", "position('a' in b)": "position", "a at time zone 'utc'": "timezone",
		"a[1]": "a", "(r).f": "f", "a is null": "?column?", "a and b": "?column?", "-a": "?column?", "count(*)": "count",
		"a collate \"C\"": "a", "(values (1))": "column1", "1.5::decimal(3,1)": "numeric",
	} {
		e, err := ParseExpr(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := ast.ColumnName(e); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
