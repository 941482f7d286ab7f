package trial

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/funcs"
)

// column is a type with values of which aggregates and windows are made.
type column struct {
	typ   string
	plain []string // of which the first and the last are equal
	// rest are values that are tried by themselves: the ends of the type, what is no number, texts of several bytes.
	rest [][]string
}

var (
	integers = column{"integer", []string{"3", "-7", "12", "3"}, [][]string{{"2147483647", "2147483647", "-2147483648", "2147483647"}}}
	bigints  = column{"bigint", []string{"3", "-7", "12", "3"}, [][]string{{"9223372036854775807", "9223372036854775807"}, {"-9223372036854775808", "-1"}}}
	wides    = column{"numeric(38,0)", []string{"3", "-7", "12", "3"}, [][]string{{"99999999999999999999999999999999999999", "1"}}}
	doubles  = column{"double precision", []string{"0.5", "-2.25", "30", "0.5"},
		[][]string{{"nan", "infinity", "-0", "nan"}, {"1e308", "1e308", "5e-324"}}}
	texts      = column{"text", []string{"b", "a", "ab", "b"}, [][]string{{"é", "日本", "", "𝄞", "é", "z"}}}
	booleans   = column{"boolean", []string{"true", "false", "true", "true"}, [][]string{{"true", "true"}, {"false"}}}
	timestamps = column{"timestamp", []string{"2024-02-29 12:00:00", "1999-12-31 23:59:59.999999", "2024-03-01", "2024-02-29 12:00:00"},
		[][]string{{"294240-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC"}}}
	intervals = column{"interval", []string{"1 mon", "-3 days", "04:05:06.789", "1 mon"}, [][]string{{"178000000 years", "178000000 years"}, {"2147483647 days", "-2147483648 days"}}}
)

// columnsOf are the types that a word of the reference stands for, the usual one first.
var columnsOf = map[string][]column{
	"any":                        {texts, integers, doubles},
	"number":                     {doubles, integers, wides},
	"integer":                    {integers, bigints},
	"boolean":                    {booleans},
	"text":                       {texts},
	"number or interval":         {integers, bigints, wides, doubles, intervals},
	"number or date or interval": {integers, doubles, timestamps, intervals},
}

// AggregateSection is the name of an aggregate's or a window function's section.
func AggregateSection(kind string, a *funcs.Aggregate) string {
	return kind + " " + a.Name + "(" + a.Args + ")"
}

// aggregate is how an aggregate is called.
type aggregate struct {
	name    string
	within  bool
	pairs   bool     // it has two arguments, of one type here
	columns []column // what is tried as the first
	direct  string   // a constant argument
}

// aggregateOf reads the arguments as the reference has them; missing is a word of them for which there are no values.
func aggregateOf(a *funcs.Aggregate) (out aggregate, missing string) {
	out.name = a.Name
	args, by, within := strings.Cut(a.Args, ") WITHIN GROUP (ORDER BY ")
	words := strings.Split(args, ", ")
	switch {
	case within:
		if out.within = true; args != "" {
			out.direct = "0.5"
		}
		words = []string{by}
	case len(words) == 2 && words[1] == "number" && words[0] != "number":
		out.direct = "0.25"
		words = words[:1]
	}
	out.pairs = len(words) == 2
	if out.pairs && strings.HasPrefix(words[0], "number") { // they are cast to double
		out.columns = []column{doubles, wides}
		return out, ""
	}
	if out.columns = columnsOf[words[0]]; out.columns == nil {
		return out, words[0]
	}
	return out, ""
}

// call is the aggregate of the column x, and y where it has two.
func (a *aggregate) call(distinct bool) string {
	if a.within {
		return a.name + "(" + a.direct + ") within group (order by x)"
	}
	args := "x"
	switch {
	case a.pairs:
		args += ", y"
	case a.direct != "":
		args += ", " + a.direct
	}
	if distinct {
		return a.name + "(distinct " + args + " order by x)"
	}
	return a.name + "(" + args + ")"
}

// from is a table of rows n, x and, where the aggregate has two arguments, y: the values of x turned by one.
func (a *aggregate) from(c *column, values []string) string {
	rows := make([]string, len(values))
	for i, v := range values {
		rows[i] = fmt.Sprintf("%d, %s", i, literal(v, c.typ))
		if a.pairs {
			rows[i] += ", " + literal(values[(i+1)%len(values)], c.typ)
		}
	}
	names := "n, x"
	if a.pairs {
		names += ", y"
	}
	return "from (values (" + strings.Join(rows, "), (") + ")) v(" + names + ")"
}

// literal is a value of a type; NULL is written as such.
func literal(v, typ string) string {
	if v == "null" {
		return "null::" + typ
	}
	return "'" + v + "'::" + typ
}

// AggregateCalls are the calls of an aggregate that the table of functions has: of no rows, of nothing but NULL, of some NULL, with
// DISTINCT and FILTER, and with OVER, for the usual type of its argument; of extreme and multi-byte values for each. missing is a word
// of its arguments for which there are no values.
func AggregateCalls(of *funcs.Aggregate) (calls []string, missing string) {
	a, missing := aggregateOf(of)
	if missing != "" {
		return nil, missing
	}
	plain, filtered := a.call(false), a.call(false)+" filter (where n > 0)"
	all := plain + ", " + a.call(true) + ", " + filtered
	over := plain + " over (), " + plain + " over (order by n), " + plain + " over (order by n rows between 1 following and 2 following)"
	if a.within { // which knows neither DISTINCT nor OVER
		all, over = plain+", "+filtered, plain+" over ()"
	}
	usual := &a.columns[0]
	mixed := []string{usual.plain[0], "null", usual.plain[1], usual.plain[2], usual.plain[3]}
	if a.pairs {
		mixed = append(mixed, "null") // beside a value, behind one, and with another NULL
	}
	some := a.from(usual, mixed)
	calls = []string{
		plain + " " + a.from(usual, usual.plain[:1]) + " where n > 0",
		all + " " + a.from(usual, []string{"null", "null"}),
		all + " " + some,
		over + " " + some + " order by n",
	}
	for i := range a.columns {
		for _, r := range a.columns[i].rest {
			calls = append(calls, plain+" "+a.from(&a.columns[i], r))
		}
	}
	return calls, ""
}

// windowArguments are arguments of window functions, by the name of the function, the usual ones first.
var windowArguments = map[string][]string{
	"cume_dist": {""}, "dense_rank": {""}, "percent_rank": {""}, "rank": {""}, "row_number": {""},
	"first_value": {"x"}, "last_value": {"x"},
	"lag":       {"x", "x, 0", "x, 2", "x, -1", "x, null", "x, 2147483647", "x, '-2147483648'::integer", "x, 1, 'ü'", "x, 2, null"},
	"lead":      {"x", "x, 0", "x, 2", "x, -1", "x, null", "x, 2147483647", "x, '-2147483648'::integer", "x, 1, 'ü'", "x, 2, null"},
	"nth_value": {"x, 2", "x, 1", "x, 2147483647", "x, null", "x, 0", "x, -1"},
	"ntile":     {"3", "1", "2147483647", "null", "0", "-1"},
}

// windowsTried are windows: without an order all rows are peers; a frame can be empty.
var windowsTried = []string{"order by k", "order by k desc nulls last", "partition by k", "partition by k is null order by k",
	"order by k rows between 1 following and 2 following", "order by k groups between 1 preceding and current row exclude ties"}

// windowRows are multi-byte texts and NULL in an order that has ties and NULL. Peers are equal, so that each answer is the only one.
const windowRows = " from (values (2, 'é'), (null, '日本'), (1, null), (2, 'é'), (3, ''), (null, '日本')) v(k, x)"

// WindowCalls are the calls of a window function that the table of functions has: of no rows, of one, of several windows, and of extreme
// arguments. There are none for a function that windowArguments lacks.
func WindowCalls(of *funcs.Aggregate) (calls []string) {
	for i, args := range windowArguments[of.Name] {
		call := of.Name + "(" + args + ") over "
		for w, window := range windowsTried {
			if i == 0 || w == 0 {
				calls = append(calls, "k, "+call+"("+window+")"+windowRows+" order by 1, 2")
			}
		}
		if i == 0 {
			calls = append(calls, call+"(order by k)"+windowRows+" where k > 3", call+"(order by k)"+windowRows+" where k = 3")
		}
	}
	return calls
}
