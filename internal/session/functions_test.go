package session

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The columns of the table on which functions are tried: NULLs, both signs, characters of several
// bytes, the ends of types.
var functionColumns = []struct{ name, typ string }{
	{"b", "boolean"}, {"i2", "smallint"}, {"i", "integer"}, {"l", "bigint"}, {"d", "decimal(10,2)"}, {"w", "decimal(30,4)"},
	{"z", "decimal(38,20)"}, {"r", "real"}, {"f", "double"}, {"dt", "date"}, {"ts", "timestamp"}, {"iv", "interval"},
	{"s", "varchar"}, {"t", "varchar(6)"}, {"n", "varchar"},
}

var functionRows = [][]string{
	{"true", "1", "1", "1", "1.00", "1.0000", "1", "1", "1", "1970-01-01", "1970-01-01 00:00:00", "1 day", "abc", "abc", "1"},
	{"false", "-7", "-42", "-9007199254740993", "-12.50", "-123456789012345678.9012", "-1.5", "-2.5", "-2.5", "1969-12-31",
		"1969-12-31 23:59:59.999999", "-1 mon 3 days -04:05:06.7", "  Äpfel & Öl  ", "xx", " -42 "},
	{"true", "32767", "2147483647", "9223372036854775807", "99999999.99", "99999999999999999999999999.9999",
		"99999999999999999.99999999999999999999", "1e30", "1e300", "2024-02-29", "2024-02-29 13:37:42.123456",
		"1 year 2 mons", "Straße nach Ω", "Straße", "2147483648"},
	{"false", "-32768", "-2147483648", "-9223372036854775808", "-99999999.99", "-99999999999999999999999999.9999",
		"-99999999999999999.99999999999999999999", "-1e-30", "-1e-300", "0001-01-01", "0044-03-15 12:00:00 BC", "-100 days", "", "", "x"},
	{"", "", "", "", "", "", "", "", "", "", "", "", "", "", ""},
	{"true", "0", "0", "0", "0.00", "0", "0", "0", "0", "2000-12-31", "2000-12-31 00:00:00", "00:00:00", "%a_b\\c", "a%b", "0.5"},
	{"false", "12", "100", "1000", "0.05", "0.0500", "0.00000000000000000005", "0.1", "0.1", "1900-03-01", "1900-03-01 06:30:00.5",
		"01:02:03.000004", "日本語テキスト", "日本語", "1999-12-31"},
	{"true", "3", "7", "13", "2.50", "2.5000", "2.5", "2.5", "3.5", "2023-01-31", "2023-01-31 23:00:00", "1 mon 1 day 01:00:00", "aaaaaaaa", "aaa", "true"},
	{"false", "-3", "-7", "-13", "-0.05", "-0.0050", "-2.5", "-0.1", "-0.5", "2020-12-28", "2020-12-28 11:11:11", "-1 years", "Hello, World", "World", "NaN"},
	{"true", "99", "31", "8", "45.55", "0.0001", "0.5", "16777216", "0.25", "2021-01-03", "2021-01-03 00:00:01", "40 days", " x ", "x y", "1 day"},
}

// functionTable makes the table v; NULL is written as the empty field, and in the text columns of one row.
func functionTable(t testing.TB, s *Session, copies int) {
	t.Helper()
	var cols []string
	for _, c := range functionColumns {
		cols = append(cols, c.name+" "+c.typ)
	}
	mustRun(t, s, "create table v (id integer, "+strings.Join(cols, ", ")+")")
	var rows []string
	for k := range copies * len(functionRows) {
		cells := []string{fmt.Sprint(k)}
		for i := range functionColumns {
			cells = append(cells, functionLiteral(k%len(functionRows), i))
		}
		rows = append(rows, "("+strings.Join(cells, ", ")+")")
	}
	mustRun(t, s, "insert into v values "+strings.Join(rows, ", "))
}

func functionLiteral(row, col int) string {
	text, typ := functionRows[row][col], functionColumns[col].typ
	if functionRows[row][0] == "" {
		return "cast(null as " + typ + ")"
	}
	return "cast('" + text + "' as " + typ + ")"
}

func mustRun(t testing.TB, s *Session, text string) {
	t.Helper()
	res, err := s.Query(context.Background(), text)
	if err != nil {
		t.Fatalf("%s\n%s", text, diag.Format(err, text))
	}
	res.Close()
}

// functions are expressions over columns, which are written $name.
var functions = strings.Split(strings.TrimSpace(`
$b and $i>0
$b or $i/0>1
not $b
$b is true
$s is null
$i+1
$i-$i2
$i*2
$i2*$i2
$l+1
$l*$i
-$i
-$l
-$i2
-$f
-$d
-$iv
$d+$w
$d-$d
$d*$w
$w*2
$d/3
$w/7
$w/$d
$d/$w
$w/$w
-$w/($w+1)
cast($i as decimal(10,0))/$d
cast($l as decimal(19,0))/$w
$d/3.0
$d/-0.0007
($d/7)*($w/3)
($d/7)*($d/3)
round($d/$w,3)
cast($d/7 as integer)
cast($l/7.0 as bigint)
floor($w/7)
ceil($d/-3)
($d/7)%2
abs($d/7)
sign($d/7)
greatest($d/7,$w)
$d/7>$d
cast($d/7 as double)
cast($d/7 as text)
$i/7
$l/-1
$i/$i2
$f/$f
$r/$r
$i%7
$l%$i
$d%0.7
$w%3
$w%$d
$z%0.3
mod($l,10)
$f+$r
$f*2
$f-0.5
$i=$l
$d<$w
$f>=$r
$s<$t
$dt=$ts
$ts<$dt
$iv>interval '1 day'
$iv>interval '400000 years'
$iv=interval '24:00:00'
$s is distinct from $t
$i in (1,7,100,-42)
$s in ('abc','aaaaaaaa','')
$d between 0 and 3
case when $i>0 then $s else $t end
case when $i<>0 then 100/$i end
case $i when 1 then 'one' when 7 then 'seven' else 'many' end
coalesce($s,$t,'none')
coalesce($i,0)
coalesce($d,$w)
nullif($i,7)
nullif($s,$t)
nullif($f,0)
greatest($i,$l)
greatest($d,$w,0)
least($i,$i2,0)
least($s,$t,'b')
greatest($w,$z)
greatest($f,$r)
greatest($dt,$ts)
least($iv,interval '1 month')
$s like '%a%'
$s like 'a__'
$s like '%\%a\_b%'
$s like '_pfel%'
$s not like '%l%'
$s ilike '%ÄPFEL%'
$t ilike 'stra_e'
substring($s,2)
substring($s,2,3)
substring($s,-1,4)
substring($s from $i2)
substring($s,$i2,2)
length($s)
octet_length($s)
char_length($t)
lower($s)
upper($s)
lower($t)||upper($t)
$s||$t
$s||'!'||$i
$i||':'||$d
concat($s,'-',$t,$i,$b)
trim($s)
ltrim($s)
rtrim($s)
btrim($s,' a')
trim($s,'äÄ ')
ltrim($s,$t)
rtrim($s,'abcdefghij')
replace($s,'a','bb')
replace($s,'','x')
replace($s,$t,'*')
position('l' in $s)
position($t in $s)
strpos($s,'日本')
strpos($s,'本')
strpos($s,'')
strpos($s,'aa')
starts_with($s,'Str')
starts_with($s,$t)
starts_with($s,'')
left($s,2)
left($s,-2)
left($s,$i2)
left($s,0)
right($s,2)
right($s,-2)
right($s,$i2)
extract(year from $dt)
extract(month from $dt)
extract(day from $dt)
extract(quarter from $dt)
extract(dow from $dt)
extract(isodow from $dt)
extract(doy from $dt)
extract(week from $dt)
extract(isoyear from $dt)
extract(epoch from $dt)
extract(decade from $dt)
extract(century from $dt)
extract(millennium from $dt)
extract(julian from $dt)
extract(year from $ts)
extract(isoyear from $ts)
extract(week from $ts)
extract(doy from $ts)
extract(dow from $ts)
extract(hour from $ts)
extract(minute from $ts)
extract(second from $ts)
extract(milliseconds from $ts)
extract(microseconds from $ts)
extract(epoch from $ts)
extract(julian from $ts)
extract(century from $ts)
extract(year from $iv)
extract(month from $iv)
extract(day from $iv)
extract(hour from $iv)
extract(second from $iv)
extract(epoch from $iv)
date_part('year',$ts)
year($dt)
quarter($ts)
dayofyear($dt)
week($dt)
date_trunc('year',$ts)
date_trunc('quarter',$ts)
date_trunc('month',$ts)
date_trunc('week',$ts)
date_trunc('day',$ts)
date_trunc('hour',$ts)
date_trunc('minute',$ts)
date_trunc('second',$ts)
date_trunc('milliseconds',$ts)
date_trunc('microseconds',$ts)
date_trunc('decade',$ts)
date_trunc('century',$ts)
date_trunc('millennium',$ts)
date_trunc('month',$dt)
date_trunc('week',$dt)
$dt+1
$dt-400
$dt+$i
$dt-date '2000-01-01'
$ts+interval '1 day'
$ts+interval '1 month'
$ts-interval '1 month'
$dt+interval '13 months 5 days 23:59:59'
$dt-interval '3 years -02:00:00'
$dt+interval '300 years'
$ts-interval '50 years'
$ts+$iv
$dt-$iv
$iv+interval '1 day'
$iv-$iv
$iv*2
$iv*$d
$iv/3
$iv/$i
$ts-timestamp '2000-01-01 12:00:00'
$ts-$dt
$s like $t
$s like '%'||$t||'%'
$s not ilike $t||'%'
abs($i)
abs($l)
abs($i2)
abs($d)
abs($w)
abs($f)
round($d)
round($d,1)
round($d,-1)
round($w,2)
round($w,-20)
round($z,1)
round($z,19)
round($f)
round($f,1)
round($f,-1)
round($r)
round($i,-1)::decimal(11,0)
round($l,-2)::decimal(20,0)
trunc($d)
trunc($d,1)
trunc($w,-3)
trunc($z)
trunc($z,3)
trunc($f)
trunc($f,2)
floor($d)
floor($w)
floor($z)
floor($f)
floor($i)
ceil($d)
ceil($w)
ceil($z)
ceil($f)
ceil($r)
sqrt($f)
sqrt($i)
sign($i)
sign($d)
sign($w)
sign($z)
sign($f)
sign($r)
power($f,2)
power($f,0.5)
power(2,$i2)
$i^2
exp($f)
exp($i2)
ln($f)
ln($d)
log($f)
log(2,$f)
log10($i)
cast($b as varchar)
cast($i2 as varchar)
cast($i as text)
cast($l as text)
cast($d as text)
cast($w as text)
cast($z as text)
cast($r as text)
cast($f as text)
cast($dt as text)
cast($ts as text)
cast($iv as text)
cast($s as varchar(3))
cast($t as varchar(20))
cast($d as varchar(3))
cast($n as boolean)
cast($n as smallint)
cast($n as integer)
cast($n as bigint)
cast($n as decimal(12,3))
cast($n as decimal(38,10))
cast($n as real)
cast($n as double)
cast($n as date)
cast($n as timestamp)
cast($n as interval)
cast($i as smallint)
cast($l as integer)
cast($i2 as bigint)
cast($i as decimal(5,2))
cast($i as decimal(38,20))
cast($l as decimal(30,4))
cast($d as integer)
cast($d as decimal(4,1))
cast($d as decimal(20,5))
cast($w as bigint)
cast($w as decimal(38,0))
cast($w as decimal(38,10))
cast($z as decimal(38,0))
cast($z as decimal(20,1))
cast($z as bigint)
cast($i as real)
cast($l as double)
cast($d as double)
cast($d as real)
cast($w as double)
cast($r as double)
cast($f as real)
cast($f as smallint)
cast($f as integer)
cast($f as bigint)
cast($f as decimal(10,2))
cast($f as decimal(5,1))
cast($r as decimal(10,3))
cast($r as integer)
cast($dt as timestamp)
cast($ts as date)
cast($b as integer)
cast($i as boolean)
coalesce($iv,interval '1 day')
case when $b then $iv else interval '1 mon' end
nullif($iv,interval '1 day')
$iv in (interval '1 day',interval '40 days')
$f in (1,3.5,0.1)
$w in (1.0000,2.5)
$ts in (timestamp '2023-01-31 23:00:00',timestamp '1970-01-01 00:00:00')
$b is distinct from ($i>0)
$r=0.1
$r*$r
greatest($b,false)
$b=true
$d is null or $w>0
$l/$i
$l%-1
$i2/-1
abs($z)
-$w
-$z
$z*2
$w+$z
$w-1
$d*$d*$d
cast($i2 as real)
substring($s from 2 for $i2)
date_trunc('year',$dt)
$dt+interval '1000000 years'
$ts+interval '-4700 years'
$ts-interval '4757 years 3 mons'
extract(year from $dt-interval '3000 years')
extract(isoyear from $ts-interval '3000 years')
extract(doy from $dt-interval '3000 years')
extract(week from $dt-interval '3000 years')
date_trunc('quarter',$ts-interval '3000 years')
date_trunc('week',$ts-interval '3000 years')
$dt-2500000
$dt+2145000000
cast($ts as date)-$dt
cast($dt+2000000 as timestamp)
position('%' in $s||'%')
length(trim(upper($s)))
case when $s like '%a%' then lower($s) else cast($i as text) end
greatest(lower($s),upper($t))
coalesce(cast($n as text),$s)
$i||''=$n
length(lower($s)||upper($t))
lower($s)=upper($s)
coalesce(nullif(replace($s,'a',''),''),'empty')
upper(substring($s,1,1))||lower(substring($s,2))
round(exp(ln(abs($f)+1)))
`), "\n")

var placeholder = regexp.MustCompile(`\$[a-z0-9]+`)

// functionText is an expression with the columns' names, or with row's literals if row is not negative.
func functionText(f string, row int) string {
	return placeholder.ReplaceAllStringFunc(f, func(p string) string {
		if row < 0 {
			return p[1:]
		}
		for i, c := range functionColumns {
			if c.name == p[1:] {
				return functionLiteral(row, i)
			}
		}
		panic("no column " + p)
	})
}

// ask is a query's rows, or its error.
func ask(s *Session, text string) ([][]types.Value, error) {
	res, err := s.Query(context.Background(), text)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return res.Values(), nil
}

func sameValue(a, b types.Value) bool {
	return a.Null == b.Null && a.Type == b.Type && (a.Null || a.String() == b.String())
}

// TestFunctions: a function of a column gives, in every row, what it gives for the literal that stands in
// that row, also where that is an error; rows that are filtered out before do not fail.
func TestFunctions(t *testing.T) {
	type outcome struct {
		v    types.Value
		code string
	}
	want := make([][]outcome, len(functions))
	ref := New(NewDB())
	for k, f := range functions {
		for row := range functionRows {
			rows, err := ask(ref, "select "+functionText(f, row))
			if err != nil {
				if code := diag.CodeOf(err); code == diag.InternalError || code == diag.FeatureNotSupported || code[:2] == "42" {
					t.Fatalf("%s: %v", functionText(f, row), err)
				}
				want[k] = append(want[k], outcome{code: diag.CodeOf(err)})
				continue
			}
			want[k] = append(want[k], outcome{v: rows[0][0]})
		}
	}
	const copies = 3
	for _, dict := range []bool{true, false} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.Dict, x.Narrow, x.Check = dict, dict, true })
		functionTable(t, s, copies)
		for _, c := range []struct{ threads, morsel int }{{1, 1}, {1, 7}, {1, 1024}, {2, 1}, {2, 7}, {2, 1024}} {
			if testing.Short() && c.threads == 1 == (c.morsel == 7) {
				continue
			}
			s.Configure(func(x *Settings) { x.Threads, x.MorselRows = c.threads, c.morsel })
			t.Run(fmt.Sprintf("dict=%v threads=%d morsel=%d", dict, c.threads, c.morsel), func(t *testing.T) {
				for k, f := range functions {
					var good []string
					for id := range copies * len(functionRows) {
						if want[k][id%len(functionRows)].code == "" {
							good = append(good, fmt.Sprint(id))
						}
					}
					text := fmt.Sprintf("select id, %s from v where id in (%s)", functionText(f, -1), strings.Join(good, ", "))
					rows, err := ask(s, text)
					if err != nil {
						t.Errorf("%s\n%s", text, diag.Format(err, text))
						continue
					}
					if len(rows) != len(good) {
						t.Errorf("%s: %d rows, want %d", text, len(rows), len(good))
					}
					for i, r := range rows {
						if good[i] != r[0].String() {
							t.Errorf("%s: row %d has id %s, want %s", text, i, r[0], good[i])
							break
						}
						row := int(r[0].I) % len(functionRows)
						if w := want[k][row].v; !sameValue(r[1], w) {
							t.Errorf("%s of row %d is %s %s, want %s %s", f, row, r[1].Type, r[1], w.Type, w)
						}
					}
					for row := range functionRows {
						if code := want[k][row].code; code != "" && c.morsel == 7 {
							text := fmt.Sprintf("select id, %s from v where id = %d", functionText(f, -1), row)
							if _, err := ask(s, text); err == nil || diag.CodeOf(err) != code {
								t.Errorf("%s: error %v, want %s", text, err, code)
							}
						}
					}
				}
			})
		}
	}
}

// TestEmitted holds testdata/functions.txt to the truth: which functions have code, and which Go computes.
func TestEmitted(t *testing.T) {
	const file = "testdata/functions.txt"
	s := New(NewDB())
	functionTable(t, s, 1)
	var out strings.Builder
	for _, f := range functions {
		rows, err := ask(s, "explain (pipelines) select "+functionText(f, -1)+" from v")
		if err != nil {
			t.Fatal(err)
		}
		how := "code"
		for _, r := range rows {
			if strings.Contains(r[0].S, "compute in Go") {
				how = "Go"
			}
		}
		fmt.Fprintf(&out, "%-5s %s\n", how, functionText(f, -1))
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		t.Errorf("%s: %s", file, firstDifference(got, string(want)))
	}
}
