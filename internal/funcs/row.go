package funcs

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Row is one operation: a function of arguments of certain types.
type Row struct {
	Name string
	// Args has a letter per parameter (see Letters). Those after a ? may be left out; … at the end: any
	// number more of the last one.
	Args string
	// Result is the type of the result. Unknown: that of the arguments whose letter is e, or the first one's.
	Result types.Type
	// Op is the operation that it is; Fn the function that Go computes. A row with neither is made of other operations
	// by the binder (bind.builders).
	Op plan.Op
	Fn *plan.Function
	// Group is the section of the reference, Example an expression and its value, as "expr → value", for it.
	Group, Example string
	// Names are those of the parameters, for calls as f(name => value); nil: there are none.
	Names []string
}

// Letters of Row.Args, with what the reference calls them.
var Letters = map[byte]string{
	't': "text",
	'W': "text", // and no literal, which may be another type
	'i': "bigint",
	'e': "integer", // of any width; all of a call get the widest
	'f': "double",
	'm': "numeric", // integers, too
	'n': "number",  // of any type
	'b': "boolean",
	'D': "date",
	'T': "timestamp",
	'V': "interval",
	'Z': "timestamptz",
	'C': "time",
	'B': "bytea",
	'J': "json", // or jsonb
	'X': "text[]",
	'L': "list",     // of any elements; all of a call have one type
	'E': "element",  // of the lists of the call
	'd': "datetime", // date, timestamp, time or interval
	'*': "any",
}

// Params takes Args apart: the letters, how many of them are required, and whether more may follow.
func (r *Row) Params() (letters string, least int, more bool) {
	letters, more = strings.CutSuffix(r.Args, "…")
	if i := strings.IndexByte(letters, '?'); i >= 0 {
		return letters[:i] + letters[i+1:], i, more
	}
	return letters, len(letters), more
}

// The sections of the reference.
const (
	Text        = "Text"
	Patterns    = "Patterns"
	Numbers     = "Numbers"
	Bits        = "Bits"
	Dates       = "Dates and times"
	Formats     = "Formats"
	Conditional = "Conditional"
	Hashes      = "Hashes and encodings"
	Lists       = "Lists"
	Enums       = "Enums"
	Structs     = "Structs and maps"
	JSON        = "JSON"
	System      = "System"
)

// Groups is the order of the sections.
var Groups = []string{Text, Patterns, Numbers, Bits, Dates, Formats, Conditional, Hashes, Lists, Enums, Structs, JSON, System}

// Eval computes a value of type t; see plan.Function.
type Eval = func(a []types.Value, t types.Type) (types.Value, error)

// option is what is unusual about a function.
type option func(*plan.Function)

// fails: it may raise an error.
func fails(f *plan.Function) { f.Fails = true }

// nullOut: it may be NULL although no argument is.
func nullOut(f *plan.Function) { f.NullOut = true }

// finiteOnly: infinite dates and timestamps make it NULL.
func finiteOnly(f *plan.Function) {
	compute := f.Eval
	f.NullOut = true
	f.Eval = func(a []types.Value, t types.Type) (types.Value, error) {
		for _, v := range a {
			if v.IsInfinite() {
				return null(t)
			}
		}
		return compute(a, t)
	}
}

// seesNull: it looks at arguments that are NULL.
func seesNull(f *plan.Function) { f.Strict = false }

// volatile: each row has another value.
func volatile(f *plan.Function) { f.Volatile = true }

// size: the text may be much longer than the arguments, but not longer than that.
func size(of func(a []types.Value) int64) option {
	return func(f *plan.Function) { f.Size, f.Fails = of, true }
}

// fn is the row of a function that Go computes. It is strict and cannot fail unless options say otherwise.
func fn(name, args string, result types.Type, example string, eval Eval, options ...option) Row {
	f := &plan.Function{Name: name, Strict: true, Eval: eval}
	for _, o := range options {
		o(f)
	}
	return Row{Name: name, Args: args, Result: result, Fn: f, Example: example}
}

// op is the row of an operation; made that of what the binder makes of others.
func op(name, args string, result types.Type, o plan.Op, example string) Row {
	return Row{Name: name, Args: args, Result: result, Op: o, Example: example}
}

// named gives the parameters names; those that are left out before a given one are zero.
func named(r Row, names ...string) Row {
	r.Names = names
	return r
}

func made(name, args, example string) Row { return Row{Name: name, Args: args, Example: example} }

// Rows are all functions, by name; rows of one name are in the order in which they are tried.
var Rows = func() []Row {
	var all []Row
	for _, t := range []struct {
		group string
		rows  []Row
	}{
		{Text, textRows}, {Text, moreTextRows}, {Patterns, patternRows}, {Patterns, regexpListRows}, {Numbers, numberRows}, {Numbers, floatRows}, {Bits, bitRows},
		{Dates, dateRows}, {Dates, fieldRows}, {Dates, zoneRows}, {Formats, formatRows}, {Conditional, conditionalRows}, {Hashes, hashRows}, {Hashes, bytesRows}, {Hashes, shaRows}, {Lists, listRows}, {Lists, listDuckRows}, {Enums, enumRows}, {Structs, structRows}, {JSON, jsonRows}, {JSON, jsonbRows}, {JSON, jsonbKeyRows}, {JSON, jsonMadeRows}, {JSON, jsonDuckRows}, {JSON, jsonPathRows}, {System, systemRows}, {System, catalogRows},
	} {
		for _, r := range t.rows {
			r.Group = t.group
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return all
}()

// index is where the rows of a name begin.
var index = func() map[string]int {
	m := make(map[string]int, len(Rows))
	for i := len(Rows) - 1; i >= 0; i-- {
		m[Rows[i].Name] = i
	}
	return m
}()

// Find gives the rows of a name, none if there is no such function.
func Find(name string) []Row {
	i, ok := index[name]
	if !ok {
		return nil
	}
	end := i + 1
	for end < len(Rows) && Rows[end].Name == name {
		end++
	}
	return Rows[i:end]
}

// Function is the function of Go behind a name, for what operators mean.
func Function(name string) *plan.Function {
	for _, r := range Find(name) {
		if r.Fn != nil {
			return r.Fn
		}
	}
	panic("no function " + name)
}

// fail is an error; the caller knows the place.
func fail(code, format string, args ...any) (types.Value, error) {
	return types.Value{}, errorf(code, format, args...)
}

func errorf(code, format string, args ...any) error {
	return diag.Errorf(code, diag.NoPos, format, args...)
}

func text(s string) (types.Value, error)                { return types.TextValue(s), nil }
func boolean(b bool) (types.Value, error)               { return types.BoolValue(b), nil }
func number(t types.Type, i int64) (types.Value, error) { return types.IntValue(t, i), nil }
func double(f float64) (types.Value, error)             { return types.FloatValue(types.TFloat64, f), nil }
func null(t types.Type) (types.Value, error)            { return types.NullOf(t), nil }

// The types of results.
var (
	tText   = types.TText
	tBool   = types.TBool
	tInt    = types.TInt32
	tBigint = types.TInt64
	tDouble = types.TFloat64
	tDate   = types.TDate
	tTime   = types.TTimestamp
	tSpan   = types.TInterval
	tSame   = types.Type{}
)
