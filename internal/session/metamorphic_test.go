package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// metamorphicSources are what predicates are asked of: the table on which functions are tried, beside what windows, recursion, lists,
// groups and joins make of it. All have id and e, a number.
var metamorphicSources = []string{
	"(select *, i2 as e from v)",
	"(select *, row_number() over (partition by b order by d desc, id) as e from v)",
	"(select *, sum(i2) over (order by ts nulls first, id rows between 2 preceding and 1 following exclude current row) as e from v)",
	"(select *, count(*) filter (where i2 > 0) over (partition by t order by i2 range between 10 preceding and current row) as e from v)",
	"(with recursive r(k) as (select 1 union all select k + 1 from r where k < 3) select v.*, k as e from v, r where id % k = 0)",
	"(select v.*, u.e from v cross join lateral unnest([i2, null, 7]) u(e))",
	"(select v.*, g.e from v left join (select t, count(*) as e from v group by t having count(*) > 1) g on v.t = g.t)",
	"(select v.*, cast('{\"a\": ' || id || '}' as jsonb) ->> 'a' as e from v where id % 2 = 0)",
	"(select distinct on (t, id % 4) *, id as e from v order by t, id % 4, id desc)",
	"(select *, length(last_value(t) over (partition by b order by ts groups between unbounded preceding and 1 following exclude ties)) + ntile(3) over (order by d, id) as e from v)",
	"(select *, length(string_agg(distinct t, 'é') over (partition by id % 3)) - lag(i2, 2, 0::smallint) ignore nulls over (order by id) as e from v)",
	"(select v.* exclude (id), coalesce(v.id, -u.k) as id, u.e from v full join (select id + 9 as k, length(t) as e from v where id % 3 > 0) u on v.id = u.k)",
	"(select v.* exclude (id), u.id from (select id + 3 as id, t from v) u left join (select *, nullif(length(t), 0) as e from v where t like '%a%') v on u.t = v.t and u.id <> v.id)",
	"(select v.*, r.e from v left join (select b, t, count(*) as e, grouping(b, t) as m from v group by rollup (b, t)) r on r.b = v.b and r.m = 1)",
	"(select v.*, r.e from v join (select id % 5 as m, t, sum(i2) as e from v group by cube (id % 5, t) having count(*) > 1) r on v.id = r.m where r.t is null)",
	"(with c as materialized (select id, t, i2 from v where i2 is not null), d as (select t, max(i2) as e from c group by t) select v.*, d.e from v left join d on d.t = v.t where exists (select 1 from c where c.id = v.id + 1) or v.id % 2 = 1)",
	"(select v.*, g.a[2] as e from v join (select b as k, array_agg(i2 order by id desc) as a from v group by b) g on v.b is not distinct from g.k)",
	"(select v.*, (select max(x) from unnest(g.a) u(x) where x <> v.i2) as e from v join (select id as k, list_filter([id, i2, null, 3], x -> x > 2 or x is null) as a from v) g on v.id = g.k)",
	"((select *, id as e from v where id % 2 = 0 union all select *, -id from v where id % 3 = 0) except all select *, id from v where id < 6)",
	"(select v.*, l.e from v left join lateral (select u.i2 as e from v u where u.b = v.b and u.id < v.id order by u.t, u.id desc limit 1) l on true)",
}

// metamorphicCounts count the rows for which a predicate is true, and add up their numbers, without a filter above them. They are
// formats, of a source and a predicate.
var metamorphicCounts = []string{
	"select coalesce(sum(case when %[2]s then 1 else 0 end), 0), coalesce(sum(case when %[2]s then id end), 0) from %[1]s",
	"select count(*) filter (where %[2]s), coalesce(sum(id) filter (where %[2]s), 0) from %[1]s",
	"select coalesce(sum(n), 0), coalesce(sum(s), 0) from (select %[2]s as p, count(*) as n, sum(id) as s from %[1]s group by 1) g where p",
	"select coalesce(max(n), 0), coalesce(max(s), 0) from (select count(*) over (partition by p) as n, sum(id) over (partition by p) as s, p from (select %[2]s as p, id from %[1]s) w) g where p",
	"select count(one), coalesce(sum(case when one = 1 then id end), 0) from %[1]s left join (values (1)) o(one) on %[2]s",
}

// TestMetamorphic: for any predicate p, the rows where p, where not p and where p is NULL are all rows; as many rows pass a filter as
// p is true for; and neither passes of the optimizer nor techniques change that. Predicates compare functions of columns with their own
// values in a row, so that comparisons are true, false and unknown. KELPIE_SEED and KELPIE_COUNT choose others.
func TestMetamorphic(t *testing.T) {
	seed, count := uint64(1), 150
	if s := os.Getenv("KELPIE_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("KELPIE_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	functionTable(t, s, 4)
	plain := s.settings
	g := &predicates{total: totalFunctions(s)}
	variants := metamorphicVariants(t)
	for i := range count {
		g.r = rand.New(rand.NewPCG(seed+uint64(i), 3))
		source, p := metamorphicSources[g.r.IntN(len(metamorphicSources))]+" x", g.predicate(2)
		all := "select count(*), coalesce(sum(id), 0) from " + source
		fail := func(format string, args ...any) {
			t.Errorf("KELPIE_SEED=%d KELPIE_COUNT=1: %s\n%s where %s", seed+uint64(i), fmt.Sprintf(format, args...), all, p)
		}
		s.settings = plain
		whole, err := twoNumbers(s, all)
		if err != nil {
			t.Fatal(err)
		}
		var sum [2]int64
		var passing [2]int64
		for k, where := range []string{p, "not (" + p + ")", "(" + p + ") is null"} {
			part, err := twoNumbers(s, all+" where "+where)
			if err != nil {
				fail("%s", diag.Format(err, where))
				break
			}
			if k == 0 {
				passing = part
			}
			sum[0], sum[1] = sum[0]+part[0], sum[1]+part[1]
		}
		if sum != whole {
			fail("the parts have %d, the whole has %d", sum, whole)
		}
		count := fmt.Sprintf(metamorphicCounts[i%len(metamorphicCounts)], source, p)
		if counted, err := twoNumbers(s, count); err != nil || counted != passing {
			fail("%d pass the filter, %d are counted by %s (%v)", passing, counted, count, err)
		}
		for k := range 3 {
			v := variants[(i*3+k)%len(variants)]
			s.settings = plain
			s.Configure(v.set)
			if got, err := twoNumbers(s, all+" where "+p); err != nil || got != passing {
				fail("%s: %d, want %d (%v)", v.name, got, passing, err)
			}
		}
	}
}

// totalFunctions are those of the list of functions that do not fail for any row, nor for its values as constants.
func totalFunctions(s *Session) []string {
	var out []string
	for _, f := range functions {
		calls := []string{functionText(f, -1)}
		for row := range functionRows {
			calls = append(calls, functionText(f, row))
		}
		if _, err := ask(s, "select "+strings.Join(calls, ", ")+" from v"); err == nil && !strings.Contains(f, "$r*$r") { // which compiled code lets overflow
			out = append(out, f)
		}
	}
	return out
}

// predicates writes conditions.
type predicates struct {
	r     *rand.Rand
	total []string
}

func (g *predicates) pick(of ...string) string { return of[g.r.IntN(len(of))] }

func (g *predicates) predicate(depth int) string {
	if depth > 0 {
		switch g.r.IntN(6) {
		case 0:
			return "(" + g.predicate(depth-1) + " and " + g.predicate(depth-1) + ")"
		case 1:
			return "(" + g.predicate(depth-1) + " or " + g.predicate(depth-1) + ")"
		case 2:
			return "not (" + g.predicate(depth-1) + ")"
		}
	}
	f := g.total[g.r.IntN(len(g.total))]
	x, y := "("+functionText(f, -1)+")", "("+functionText(f, g.r.IntN(len(functionRows)))+")"
	z := "(" + functionText(f, g.r.IntN(len(functionRows))) + ")"
	switch g.r.IntN(9) {
	case 0:
		return x + " is null"
	case 1:
		return x + " between " + y + " and " + z
	case 2:
		return x + " in (" + y + ", " + z + ")"
	case 3:
		return "cast(e as bigint) " + g.pick("<", "=", ">=") + " " + g.pick("0", "2", "7")
	case 4:
		return x + " = any (select " + functionText(f, -1) + " from v where id < 12)"
	}
	return x + " " + g.pick("=", "<>", "<", "<=", ">", ">=") + " " + y
}

// twoNumbers is the row of a query of two sums.
func twoNumbers(s *Session, sql string) ([2]int64, error) {
	rows, err := ask(s, sql)
	if err != nil {
		return [2]int64{}, err
	}
	if len(rows) != 1 || len(rows[0]) != 2 {
		return [2]int64{}, fmt.Errorf("%d rows", len(rows))
	}
	var out [2]int64
	for i, v := range rows[0] {
		if out[i], err = strconv.ParseInt(v.String(), 10, 64); err != nil {
			return out, err
		}
	}
	return out, nil
}

type variant struct {
	name string
	set  func(*Settings)
}

// metamorphicVariants leave out a pass or a technique each, all passes, and all techniques.
func metamorphicVariants(t *testing.T) []variant {
	var out []variant
	var passes []string
	for _, p := range opt.Passes() {
		if !p.Required {
			passes = append(passes, p.Name)
			out = append(out, variant{"without " + p.Name, func(x *Settings) { x.Disabled = map[string]bool{p.Name: true} }})
		}
	}
	out = append(out, variant{"without any pass", func(x *Settings) {
		if err := x.setDisabled(strings.Join(passes, ",")); err != nil {
			t.Fatal(err)
		}
	}})
	var all techniques.Off
	fields := reflect.TypeOf(all)
	for k := range fields.NumField() {
		reflect.ValueOf(&all).Elem().Field(k).SetBool(true)
		out = append(out, variant{"without " + fields.Field(k).Name, func(x *Settings) {
			reflect.ValueOf(&x.Off).Elem().Field(k).SetBool(true)
			x.Threads, x.MorselRows = 2, 7
		}})
	}
	return append(out, variant{"without any technique", func(x *Settings) { x.Off, x.SIMD, x.MorselRows = all, device.SIMDOff, 1 }})
}
