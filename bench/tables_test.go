package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tables are the statements that make the shared tables: small, with NULLs, negative numbers,
// duplicate keys, texts in several scripts, dates far away and wide decimals. They are the same
// text for both engines.
func tables() []string {
	return []string{
		`create table t (a int, b int, c bigint, d decimal(10,2), e double precision, s varchar, dt date, f boolean)`,
		`insert into t values
			(1, 10, 100, 1.50, 0.5, 'one', date '2020-01-01', true),
			(2, 20, -200, -2.25, -1.25, 'two', date '2020-02-29', false),
			(3, null, 300, 3.00, 2.5, 'three', date '1999-12-31', null),
			(null, 40, null, null, null, null, null, true),
			(5, 50, 9000000000, 99999999.99, 1e10, 'five', date '1970-01-01', false),
			(-6, -60, -9000000000, -99999999.99, -1e10, 'six', date '1969-07-20', true),
			(7, 10, 0, 0.00, 0, '', date '2020-01-01', false),
			(2, 20, 200, 2.25, 1.25, 'two', date '2020-02-29', true),
			(3, 30, 300, 0.01, 0.001, 'Three', date '2000-01-01', null),
			(null, null, null, null, null, null, null, null),
			(10, 10, 10, 10.10, 10.25, 'ten', date '2024-02-29', true),
			(0, 0, 0, -0.01, 0.125, 'zero', date '1900-03-01', false),
			(1000000, -1000000, 1000000000000, 12.34, 3.5, 'a long text that is not kept in place', date '9999-12-31', true),
			(-1, 7, -1, -1.00, -1, 'minus one', date '0001-01-01', false)`,
		`create table u (a int, k int, s varchar, v decimal(15,2))`,
		`insert into u values
			(1, 10, 'one', 100.00), (1, 11, 'uno', 1.01), (2, 20, 'two', -5.50), (3, 30, 'three', null),
			(null, 1, 'null', 7.00), (null, null, null, null), (4, 40, 'four', 44.44), (5, null, 'five', 55.55),
			(2, 21, 'two', 2.22), (7, 70, '', 0.00), (7, 71, 'sieben', -0.01), (-6, 60, 'six', 600.00), (8, 80, 'acht', 8.00)`,
		`create table v (a int, b int, c varchar)`,
		`insert into v values (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z'), (11, 110, null), (12, null, 'x'), (13, 130, 'w')`,
		`create table limits (i smallint, j int, k bigint, d decimal(18,2))`,
		`insert into limits values (32767, 2147483647, 9223372036854775807, 9999999999999999.99),
			(-32768, -2147483648, -9223372036854775808, -9999999999999999.99), (0, 0, 0, 0), (null, null, null, null)`,
		`create table nothing (a int, b int, s varchar, d decimal(12,3), dt date)`,
		`create table nulls (a int, b bigint, s varchar, d decimal(20,2))`,
		`insert into nulls values (null, null, null, null), (null, null, null, null), (null, null, null, null)`,
		`create table words (id int, s varchar)`,
		`insert into words values
			(1, 'apple'), (2, 'Apple'), (3, 'äpple'), (4, 'Grüße'), (5, 'GRÜSSE'), (6, '日本語'), (7, '日本'), (8, 'naïve café'),
			(9, ''), (10, ' '), (11, '%'), (12, '_'), (13, 'a_b'), (14, 'a%b'), (15, 'a\b'), (16, 'aXb'), (17, '😀 smile'), (18, null),
			(19, 'special requests'), (20, 'very special packages and requests'), (21, 'requests special'), (22, '  padded  '),
			(23, 'tab	tab'), (24, 'line
line'), (25, 'it''s'), (26, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'), (27, 'abababababc'), (28, 'żółw'), (29, 'abc'), (30, 'abcabc')`,
		`create table days (id int, d date, ts timestamp)`,
		`insert into days values
			(1, date '2020-02-29', timestamp '2020-02-29 12:34:56.789012'), (2, date '2019-12-30', timestamp '2019-12-30 23:59:59'),
			(3, date '2021-01-03', timestamp '2021-01-03 00:00:00'), (4, date '1969-12-31', timestamp '1969-12-31 23:59:59.999999'),
			(5, date '1970-01-01', timestamp '1970-01-01 00:00:00'), (6, date '1900-02-28', timestamp '1900-02-28 06:07:08'),
			(7, date '2000-02-29', timestamp '2000-02-29 01:00:00.5'), (8, date '0001-01-01', timestamp '0001-01-01 00:00:00'),
			(9, date '9999-12-31', timestamp '9999-12-31 23:59:59'), (10, null, null), (11, date '2024-01-31', timestamp '2024-01-31 10:20:30'),
			(12, date '2023-05-31', timestamp '2023-05-31 18:00:00'), (13, date '2016-01-01', timestamp '2016-01-01 00:00:01')`,
		`create table wide (id int, x decimal(38,0), y decimal(30,10), z decimal(18,4), w decimal(38,10))`,
		`insert into wide values
			(1, 12345678901234567890123456789012345678, 12345678901234567890.0123456789, 99999999999999.9999, 1.0000000001),
			(2, -12345678901234567890123456789012345678, -12345678901234567890.0123456789, -99999999999999.9999, -1.0000000001),
			(3, 0, 0, 0, 0), (4, null, null, null, null), (5, 1, 0.0000000001, 0.0001, 1234567890123456789012345678.0123456789),
			(6, 18446744073709551616, 1.5, 2.5, 18446744073709551616.5), (7, 9223372036854775808, -1.5, -2.5, -18446744073709551616.5),
			(8, -9223372036854775809, 3.25, 1.25, 9223372036854775808), (9, 1, 0.0000000001, 0.0001, 0)`,
		`create table big (i int, g int, h int, s varchar, x decimal(12,2), y double precision, dt date)`,
		bigRows(0, 1000), bigRows(1000, 1100), bigRows(1100, 3000),
		`create table dim (g int primary key, name varchar not null)`,
		`insert into dim values (0, 'zero'), (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five'), (17, 'seventeen'), (99, 'ninety-nine')`,
		`create table keyed (id int primary key, ref int not null, n int, s varchar not null)`,
		`insert into keyed values (1, 10, 5, 'one'), (2, 10, null, 'two'), (3, 20, 7, 'one'), (4, 30, 5, ''), (5, 20, 0, 'five'), (10, 99, 1, 'ten')`,
		`create table pairs (a int not null, b int not null, v int, d decimal(10,2) not null, primary key (a, b))`,
		`insert into pairs values (1, 1, 10, 1.5), (1, 2, null, 2.5), (2, 1, 30, -1), (3, 3, 10, 0), (5, 1, 50, 7.25), (10, 20, 1, 99.99), (20, 10, 2, 0.01)`,
	}
}

// bigRows inserts the rows lo to hi of big: enough to make hash tables grow and morsels end, with skew.
func bigRows(lo, hi int) string {
	var s strings.Builder
	s.WriteString("insert into big values ")
	for i := lo; i < hi; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		null := func(percent int, v string) string {
			if r.IntN(100) < percent {
				return "null"
			}
			return v
		}
		if i > lo {
			s.WriteString(", ")
		}
		g := r.IntN(1 + r.IntN(40))
		text := fmt.Sprintf("'%s-%d'", []string{"red", "green", "bläu", "", "a colour that has a long name"}[r.IntN(5)], r.IntN(30))
		fmt.Fprintf(&s, "(%d, %s, %s, %s, %s, %s, %s)", i, null(5, fmt.Sprint(g)), null(10, fmt.Sprint(r.IntN(2000)-1000)), null(5, text),
			null(5, fmt.Sprintf("%.2f", float64(r.IntN(2000000)-1000000)/100)), null(5, fmt.Sprintf("%.3f", r.Float64()*100-50)),
			null(5, fmt.Sprintf("date '%04d-%02d-%02d'", 1990+r.IntN(12), 1+r.IntN(12), 1+r.IntN(28))))
	}
	return s.String()
}
