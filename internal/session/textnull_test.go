package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// textExprs are expressions of texts x and y, of which a NULL must be as harmless as any other.
var textExprs = []string{
	"x", "x = 'a'", "x <> 'abc'", "x < 'b'", "x >= 'some longer literal'", "x = ''", "x = y", "x < y", "x <> y",
	"x is null", "x is not distinct from y", "x is distinct from 'a'",
	"x like 'a%'", "x like '%b%'", "x like '%c'", "x like '_b%'", "x not like '%é_%'", "x like ''", "x like '%'", "x like 'abc'",
	"x in ('a', 'abc')", "x in ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'abc')", "x not in ('a', null)",
	"x in ('a literal of more than seven', 'another', 'and', 'so', 'on', 'for', 'ever', 'abc')", "x in (y, 'a')",
	"x between 'a' and y", "length(x)", "octet_length(x)", "upper(x)", "lower(y)", "upper(lower(x)) = y", "x || y", "x || '!'", "'(' || x || ')'",
	"concat(x, y, '!')", "substring(x from 2)", "substring(x from 2 for 3)", "substring(x from length(y))", "substring(x for 6)",
	"left(x, 2)", "left(x, -1)", "right(x, 2)", "right(x, -1)", "right(x, length(y))", "trim(x)", "ltrim(x, 'a')", "rtrim(x, 'bc')",
	"position('b' in x)", "strpos(x, '')", "starts_with(x, 'a')", "starts_with(x, y)", "replace(x, 'b', 'longer')", "replace(x, 'abc', '')",
	"nullif(x, 'a')", "nullif(x, y)", "nullif('a', x)", "nullif(null::text, x)", "nullif(nullif(x, 'a'), y)", "nullif(x, null::text)",
	"nullif(x, 'a') = 'abc'", "nullif(null::text, x) = 'a'", "nullif(null::text, x) like 'a%'", "substring(nullif(x, 'q') for 6)",
	"upper(nullif(x, 'a'))", "length(nullif(null::text, x))", "nullif(x, 'a') || y", "nullif(null::text, x) in ('a', 'b')",
	"coalesce(x, y)", "coalesce(x, y) = 'a'", "coalesce(x, y, 'z')", "coalesce(nullif(x, 'a'), y)", "coalesce(x, null) < 'b'",
	"coalesce(null, x, y) like '%b%'", "length(coalesce(x, y))", "upper(coalesce(x, y))", "coalesce(x, y) in ('a', 'abc')",
	"case when x = 'a' then y end", "case when x is null then y else x end", "case when x = 'a' then null else x end",
	"case when x = 'a' then null when y = 'a' then x end = 'abc'", "case when y is null then x end like '%b%'",
	"length(case when x = 'a' then null else y end)", "case x when y then x when 'a' then y end",
	"greatest(x, y)", "least(x, y)", "greatest(x, y) = 'a'", "least(x, null, y) like 'a%'", "greatest(nullif(x, 'a'), y, 'b')",
	"cast(length(x) as varchar) = '3'", "cast(length(x) as varchar)", "cast(x as varchar(2))", "cast(x as varchar(2)) = 'ab'",
	"x > y and x like '%'", "x = 'a' or y = 'a'", "not x = y", "(x = y) is true", "x < case when true then y else null end",
}

// textValues are what x and y are in the tables below; the first is NULL.
var textValues = []string{"null::text", "''", "'a'", "'abc'", "'ébc'", "'a text that is longer than twelve bytes'"}

// TestTextNulls: functions and operators of texts give, for NULLs of every origin, what they give for
// literals: a column of NULLs only, a table or a file without rows, an outer join's missing row, a union with NULLs.
func TestTextNulls(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	want := map[string]types.Value{} // by expression and literals
	for _, e := range textExprs {
		for i, x := range textValues {
			for k, y := range textValues {
				if i*k > 0 {
					continue
				}
				rows, err := ask(s, "select "+withTexts(e, x, y))
				if err != nil {
					t.Fatalf("%s: %v", withTexts(e, x, y), err)
				}
				want[withTexts(e, x, y)] = rows[0][0]
			}
		}
	}
	dir := t.TempDir()
	file := func(name string) string { return "'" + filepath.Join(dir, name+".parquet") + "'" }
	var both, plain []string
	for i, x := range textValues {
		for k, y := range textValues {
			if i*k == 0 {
				both = append(both, fmt.Sprintf("(%d, %s, %s)", 10*i+k, x, y))
			}
		}
	}
	for i := range 400 { // too many for a dictionary
		plain = append(plain, fmt.Sprintf("(%d, 'x%d', 'a longer text number %d')", 1000+i, i, i))
	}
	for _, dict := range []bool{true, false} {
		s.Configure(func(x *Settings) { x.Dict = dict })
		mustRun(t, s, fmt.Sprintf(`drop table if exists two; drop table if exists nulls; drop table if exists none; drop table if exists many;
			create table two (id int, x varchar, y varchar); insert into two values %s;
			create table many (id int, x varchar, y varchar); insert into many values %s;
			create table nulls (id int, x varchar, y varchar); insert into nulls select 0, null, null from range(3);
			create table none (id int, x varchar, y varchar);
			COPY two TO %s; COPY nulls TO %s; COPY none TO %s`, strings.Join(both, ", "), strings.Join(plain, ", "),
			file("two"), file("nulls"), file("none")))
		sources := []string{
			"(select a id, v x, v y from 'testdata/null_text.parquet')", "(select a id, v y, v x from 'testdata/no_text.parquet')", // DuckDB's
			"two", "nulls", "none", file("two"), file("nulls"), file("none"),
			"(select l.id, l.x, r.y from two l left join many r on l.id = -r.id)",
			"(select l.id, r.x, l.y from two l left join nulls r on l.id = r.id and l.y = 'q')",
			"(select coalesce(l.id, 0) id, l.x, r.y from none l full join nulls r on l.id = r.id)",
			"(select coalesce(r.id, 0) id, l.x, r.y from (select 7 z, 'c' x) l right join two r on l.z = -r.id)",
			"(select 0 id, x, y from many full join (select 1) o on false)",
			"(select id, x, y from two union all select 0, null, null union all select 0, null, y from nulls)",
			"(select id, max(x) x, min(y) y from two group by id)",
			"(select 0 id, max(x) x, min(y) y from none)",
			"(select id, (select x from none) x, y from two)",
			"(select id, x, y from two order by x, y desc limit 100)",
			"(select distinct id, x, y from two)",
		}
		if testing.Short() && !dict {
			sources = sources[:8]
		}
		check := func(where string, exprs []string, src string) {
			q := "select id, " + strings.Join(exprs, ", ") + ", x, y from " + src + " q"
			rows, err := ask(s, q)
			if err != nil {
				if where == "simt" && diag.CodeOf(err) == diag.FeatureNotSupported {
					return
				}
				t.Errorf("%s, dict %v: %s\n%v", where, dict, q, err)
				return
			}
			for _, r := range rows {
				x, y := textLiteral(r[len(r)-2]), textLiteral(r[len(r)-1])
				for i, e := range exprs {
					w, ok := want[withTexts(e, x, y)]
					if ok && !sameValue(r[1+i], w) {
						t.Errorf("%s, dict %v: %s from %s, x = %s, y = %s\ngot  %v\nwant %v", where, dict, e, src, x, y, r[1+i], w)
					}
				}
			}
		}
		for i, src := range sources {
			for _, c := range []struct {
				name   string
				device string
				simd   device.SIMD
			}{{"cpu", "cpu", device.SIMDAuto}, {"without SIMD", "cpu", device.SIMDOff}, {"simt", "simt", device.SIMDAuto}} {
				if testing.Short() && !dict && c.name != "cpu" {
					continue
				}
				s.Configure(func(x *Settings) { x.Device, x.SIMD = c.device, c.simd })
				for at := 0; at < len(textExprs); at += 8 {
					check(c.name, textExprs[at:min(at+8, len(textExprs))], src)
				}
				// The same as a filter, as keys of groups and joins and as an aggregate's argument must not fault either.
				for k, e := range textExprs {
					if c.name == "without SIMD" || testing.Short() && (i+k)%32 != 0 {
						continue
					}
					for _, q := range []string{
						"select count(*) from %s q where (%s) is not null", "select %[2]s, count(*) from %[1]s q group by 1",
						"select max(%[2]s), count(distinct %[2]s) from %[1]s q", "select id from %[1]s q order by %[2]s limit 3",
						"select count(*) from %s q join (select x z from two) p on z = cast(%s as varchar)",
					} {
						q := fmt.Sprintf(q, src, e)
						if strings.Contains(q, "max(") && want[withTexts(e, "''", "null::text")].Type.Kind == types.Bool {
							continue
						}
						if _, err := ask(s, q); err != nil && diag.CodeOf(err) != diag.FeatureNotSupported {
							t.Errorf("%s, dict %v: %s\n%v", c.name, dict, q, err)
						}
					}
				}
				s.Configure(func(x *Settings) { x.Device, x.SIMD = "cpu", device.SIMDAuto })
			}
		}
	}
}

// withTexts is an expression with x and y replaced.
func withTexts(e, x, y string) string {
	var b strings.Builder
	for i := 0; i < len(e); i++ {
		alone := (i == 0 || !letter(e[i-1])) && (i+1 == len(e) || !letter(e[i+1]))
		switch {
		case alone && e[i] == 'x':
			b.WriteString(x)
		case alone && e[i] == 'y':
			b.WriteString(y)
		default:
			b.WriteByte(e[i])
		}
	}
	return b.String()
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' || c == '\'' || c >= 0x80 }

func textLiteral(v types.Value) string {
	if v.Null {
		return "null::text"
	}
	return "'" + v.S + "'"
}
