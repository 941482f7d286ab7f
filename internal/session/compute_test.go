package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// computed are expressions that are computed in Go, and columns of the table c that hold what they give.
var computed = []struct{ name, expr string }{
	{"ls", "lower(s)"}, {"us", "upper(s)"}, {"cs", "s || t"}, {"it", "cast(i as text)"}, {"pf", "power(i2, 2)"},
	{"wm", "w % 3"}, {"il", "(s ilike '%a%')"}, {"ym", "(iv + interval '1 day')"},
}

// computeTables makes v, and c with the same rows and what is computed from them.
func computeTables(t testing.TB, s *Session, copies int) {
	functionTable(t, s, copies)
	cols := make([]string, len(computed))
	for i, c := range computed {
		cols[i] = c.expr + " as " + c.name
	}
	mustRun(t, s, "create table c as select *, "+strings.Join(cols, ", ")+" from v")
}

// computeQueries put expressions ({name}) at every place of a query. Over v they are computed where they
// stand, over c they are columns.
var computeQueries = []string{
	// Projections and filters.
	"select id, {ls}, {us}, {it} from v",
	"select {ls} || {us} || id from v where id % 3 = 0",
	"select id from v where {ls} = 'abc'",
	"select id from v where {il} and id < 20",
	"select id from v where not {il} or {pf} > 50",
	"select id, i from v where {ls} like '%a%' and i > 0 and {pf} < 100 and {it} <> '7'",
	"select x.id, x.a from (select id, {ls} as a, {it} as b from v) x where x.a > 'b' and x.b <> '0'",
	"select id, case when i > 0 then {ls} else {us} end from v",
	"select length({ls}), length({cs}) from v",
	"select {ym} > interval '5 days', {wm} from v",
	// Order and limits.
	"select id, {ls} from v order by {ls}, id",
	"select id, {ls} from v order by {us} desc, id limit 7",
	"select id, {ls} from v limit 5",
	"select id, {ls} from v where {il} limit 5 offset 3",
	"select id from v order by {pf}, id limit 3",
	// Groups.
	"select {ls}, count(*) from v group by {ls} order by 1",
	"select {ls} as a, {it} as b, count(*), min({us}), max({cs}), sum({wm}) from v group by 1, 2 order by 1, 2",
	"select count({ls}), count(distinct {ls}), min({ls}), max({pf}), sum({pf}) from v",
	"select sum({wm}) filter (where {il}), count(*) filter (where {ls} > 'b') from v",
	"select {il}, count(*) from v group by {il} order by 1",
	"select {ls}, count(*) from v group by {ls} having count(*) > 1 and {ls} <> 'abc' order by 1",
	"select distinct {ls}, {il} from v order by 1, 2",
	"select {ym}, count(*) from v group by 1 order by 1",
	// Joins.
	"select a.id, b.id from v a join v b on {a.ls} = {b.us} order by 1, 2",
	"select a.id, b.id from v a join v b on {a.ls} = {b.ls} and a.id < b.id order by 1, 2",
	"select a.id, b.id from v a join v b on a.id = b.id and {a.ls} <= {b.us} order by 1, 2",
	"select a.id, b.id from v a join v b on a.id = b.id + 1 and {a.cs} < {b.cs} where {a.il} order by 1, 2",
	"select a.id, b.id from v a left join v b on {a.ls} = {b.us} and b.id < 10 order by 1, 2",
	"select a.id, b.id from v a left join v b on a.id = b.id + 1 and {a.ls} < {b.us} order by 1, 2",
	"select a.id from v a where not exists (select 1 from v b where b.id = a.id + 1 and {a.ls} < {b.us}) order by 1",
	"select a.id, b.id, {b.ls} from v a full join v b on a.id = b.id + 5 and {b.il} order by 1, 2, 3",
	"select a.id, {b.ls} from v a left join (select * from v where id < 5) b on a.id = b.id order by 1, 2",
	"select id from v where {ls} in (select {us} from v) order by 1",
	"select id from v where {ls} not in (select {us} from v where s is not null) order by 1",
	"select id from v a where exists (select 1 from v b where {b.us} = {a.ls} and b.id <> a.id) order by 1",
	"select id from v a where not exists (select 1 from v b where b.id = a.id + 1 and {b.il}) order by 1",
	"select id, (select max({b.ls}) from v b where b.id = a.id + 1) from v a order by 1",
	"select a.id, {a.it} || {b.ls} from v a join v b on a.id = b.id order by 1",
	"select a.id, {a.ls} || {b.ls} from v a, v b where a.id = b.id and {a.ls} || {b.us} > 'c' order by 1",
	// Several cuts, unions, shared plans.
	"select upper({ls} || {it}), count(*) from v where {il} and {pf} >= 0 group by 1 order by 1",
	"select {ls} from v where id < 5 union all select {us} from v where id > 20",
	"select a, count(*) from (select {ls} as a from v union all select {us} from v union all select t from v) x where a <> 'x' group by a order by 1",
	"select a from (select {ls} as a from v union select {us} from v) x order by 1",
	"with x as (select id, {ls} as a from v) select p.id, q.id from x p join x q on p.a = q.a and p.id < q.id order by 1, 2",
	"select x.a, length(x.a) from (select id, {cs} as a from v) x where length(x.a) > 3 order by id",
}

// computeText writes a query over v or over c.
func computeText(q string, column bool) string {
	for _, c := range computed {
		for _, alias := range []string{"", "a.", "b."} {
			x := alias + c.name
			if !column {
				x = c.expr
				if alias != "" {
					for _, col := range []string{"s", "t", "i", "i2", "w", "iv"} {
						x = qualify(x, col, alias)
					}
				}
				x = "(" + x + ")"
			}
			q = strings.ReplaceAll(q, "{"+alias+c.name+"}", x)
		}
	}
	if column {
		q = strings.ReplaceAll(q, "from v", "from c")
		q = strings.ReplaceAll(q, "join v", "join c")
		q = strings.ReplaceAll(q, ", v b", ", c b")
	}
	return q
}

// qualify puts an alias before a column's name where it stands alone.
func qualify(x, col, alias string) string {
	var out strings.Builder
	word := func(c byte) bool {
		return c == '_' || c == '\'' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
	}
	for i := 0; i < len(x); {
		j := i
		for j < len(x) && word(x[j]) {
			j++
		}
		if j == i {
			out.WriteByte(x[i])
			i++
			continue
		}
		if x[i:j] == col {
			out.WriteString(alias)
		}
		out.WriteString(x[i:j])
		i = j
	}
	return out.String()
}

func rowTexts(t *testing.T, s *Session, q string) []string {
	t.Helper()
	rows, err := ask(s, q)
	if err != nil {
		t.Errorf("%s\n%s", q, diag.Format(err, q))
		return nil
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		cells := make([]string, len(r))
		for k, v := range r {
			cells[k] = v.String()
		}
		out[i] = strings.Join(cells, "|")
	}
	return out
}

// TestCompute: a query over expressions that Go computes gives the rows, in the same order, that it gives over
// columns that hold them; whatever the threads and morsels, also where a buffer between stages fills up.
func TestCompute(t *testing.T) {
	for _, copies := range []int{3, 400} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.Check, x.Dict = true, copies == 3 })
		computeTables(t, s, copies)
		for _, c := range []struct{ threads, morsel int }{{1, 1}, {1, 7}, {2, 7}, {1, 1024}, {2, 1024}, {2, 0}} {
			if copies > 3 && c.morsel > 0 && (c.morsel < 1024 || testing.Short()) {
				continue
			}
			t.Run(fmt.Sprintf("copies=%d threads=%d morsel=%d", copies, c.threads, c.morsel), func(t *testing.T) {
				s.Configure(func(x *Settings) { x.Threads, x.MorselRows = c.threads, c.morsel })
				for _, q := range computeQueries {
					if copies > 3 && (strings.Count(q, "v ") > 1 && !strings.Contains(q, "a.id = b.id") || strings.Contains(q, "x q")) {
						continue // joins of many equal keys
					}
					got, want := rowTexts(t, s, computeText(q, false)), rowTexts(t, s, computeText(q, true))
					if !slices.Equal(got, want) {
						t.Errorf("%s\ngot %d rows:  %.300s\nwant %d rows: %.300s", computeText(q, false), len(got), strings.Join(got, "; "), len(want), strings.Join(want, "; "))
					}
				}
			})
		}
	}
}

// TestPredicates: for any predicate, the rows where it holds, where it does not and where it is unknown are all rows.
func TestPredicates(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	computeTables(t, s, 3)
	for _, p := range []string{
		"lower(s) = 'abc'", "s ilike '%A%'", "upper(t) > s", "i > 0", "f > r", "s like '%a%' or t is null", "position(t in s) > 0",
		"trim(s) = s", "left(s, 2) = right(s, 2)", "starts_with(s, t)", "replace(s, 'a', '') <> s", "length(s || t) > 10",
		"cast(i as text) < s", "cast(d as double) > exp(i2 / 40000.0)", "date_trunc('month', ts) = ts", "dt + interval '1 month' > ts",
		"extract(doy from dt) > 100", "w % 3 = 1", "iv + iv > interval '2 days'", "round(z, 1) = z", "sign(f) = sign(d)",
		"power(i2, 2) between 1 and 1000", "greatest(d, w) = d", "lower(s) in ('abc', 'x', null)", "coalesce(lower(s), t) = 'abc'",
		"case when lower(s) = 'abc' then null else i > 0 end", "lower(s) = 'abc' and i > 0 or upper(t) = 'X'", "not (lower(s) < upper(t))",
	} {
		q := fmt.Sprintf("select (select count(*) from v where %[1]s), (select count(*) from v where not (%[1]s)), (select count(*) from v where (%[1]s) is null), "+
			"(select count(*) from v), count(*) filter (where %[1]s), count(*) filter (where not (%[1]s)), count(*) filter (where (%[1]s) is null) from v", p)
		rows, err := ask(s, q)
		if err != nil {
			t.Errorf("%s: %s", p, diag.Format(err, q))
			continue
		}
		r := rows[0]
		if r[0].I+r[1].I+r[2].I != r[3].I || r[0].I != r[4].I || r[1].I != r[5].I || r[2].I != r[6].I {
			t.Errorf("%s: %v", p, r)
		}
	}
}

// TestGuards: what a row's other values, an earlier filter or a join rule out is not computed.
func TestGuards(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	mustRun(t, s, "create table g (k integer, kind varchar, val varchar); insert into g values (1, 'n', '10'), (2, 'n', '-3'), (3, 't', 'abc'), (4, null, 'x'), (5, 'N', '7')")
	mustRun(t, s, "create table h (k integer, y integer); insert into h values (1, 5), (2, -5), (5, 0)")
	for _, c := range []struct{ q, want string }{
		{"select k from g where kind = 'n' and cast(val as integer) > 0", "1"},
		{"select k from g where lower(kind) = 'n' and cast(val as integer) > 0", "1 5"},
		{"select k from g where case when lower(kind) = 'n' then cast(val as integer) > 0 end", "1 5"},
		{"select sum(case when kind = 'n' then cast(val as integer) else 0 end) from g", "7"},
		{"select sum(cast(val as integer)) filter (where lower(kind) = 'n') from g", "14"},
		{"select sum(cast(val as integer)) from g where lower(kind) = 'n'", "14"},
		{"select coalesce(case when kind = 'n' then 1 end, cast(val as integer)) from g where k <> 3 and k <> 4", "1 1 7"},
		{"select g.k from g join h on g.k = h.k and cast(g.val as integer) > h.y", "1 2 5"},
		{"select k from g where upper(kind) = 'N' and 10 / (k - 3) < 0", "1 2"},
		{"select k from g where kind like 'n%' and 10 / (k - 3) < 0", "1 2"},
		{"select k from g where k in (1, 2) and ln(cast(val as integer) + 4) > 1", "1"},
		{"select x.v from (select k, cast(val as integer) as v from g) x where x.k < 3", "10 -3"},
		{"select x.v from (select kind, cast(val as integer) as v from g) x where lower(x.kind) = 'n'", "10 -3 7"},
	} {
		for _, off := range []string{"", "pushdown"} {
			s.Configure(func(x *Settings) {
				if err := x.setDisabled(off); err != nil {
					t.Fatal(err)
				}
			})
			if got := strings.Join(rowTexts(t, s, c.q), " "); got != c.want {
				t.Errorf("%s (without %q): %s, want %s", c.q, off, got, c.want)
			}
		}
	}
	s.Configure(func(x *Settings) { x.Disabled = nil })
	for _, c := range []struct{ q, code, at string }{
		{"select cast(val as integer) from g", diag.InvalidTextRepresentation, "cast"},
		{"select ln(k - 1) from g", "2201E", "ln"},
		{"select k from h where power(y, -1) > 0 and y < 1", "2201F", "power"},
		{"select upper(kind) || cast(val as date) from g", diag.InvalidDatetime, "cast"},
	} {
		_, err := ask(s, c.q)
		e, ok := err.(*diag.Error)
		if !ok || e.Code != c.code || e.Pos < 0 || !strings.HasPrefix(c.q[e.Pos:], c.at) {
			t.Errorf("%s: %v", c.q, diag.Format(err, c.q))
		}
	}
}

// TestComputeLimits: stages hold to the memory limit, stop when canceled and end early for a LIMIT.
func TestComputeLimits(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table b (k bigint, s varchar)")
	mustRun(t, s, "insert into b values (1, 'row'), (2, 'ROW'), (3, 'Row'), (4, null)")
	for range 8 {
		mustRun(t, s, "insert into b select k + (select max(k) from b), coalesce(s, 'x') || k from b")
	}
	mustRun(t, s, "insert into b select a.k * 1000 + b.k, a.s || b.s from b a, b b where b.k <= 200")
	rows, err := ask(s, "select count(*), count(distinct lower(s)) from b")
	if err != nil || rows[0][0].I < 200_000 {
		t.Fatal(rows, err)
	}
	s.Configure(func(x *Settings) { x.Memory = 2 << 20 })
	if _, err := ask(s, "select lower(s) || upper(s) || k from b"); err == nil || diag.CodeOf(err) != diag.OutOfMemory {
		t.Errorf("memory limit: %v", err)
	}
	s.Configure(func(x *Settings) { x.Memory = 0 })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Query(ctx, "select count(*) from b where lower(s) = 'x'"); diag.CodeOf(err) != diag.QueryCanceled {
		t.Errorf("canceled: %v", err)
	}
	for _, threads := range []int{1, 2} {
		s.Configure(func(x *Settings) { x.Threads = threads })
		res, err := s.Query(context.Background(), "select lower(s) from b limit 3")
		if err != nil {
			t.Fatal(err)
		}
		if m := res.Stats.Pipelines[0].Morsels; res.Rows != 3 || m > 4 {
			t.Errorf("limit: %d rows after %d morsels", res.Rows, m)
		}
		res.Close()
	}
}
