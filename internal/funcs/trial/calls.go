package trial

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/funcs"
)

// Text writes a call of a row: an operator stands between its operands.
func Text(r *funcs.Row, args []string) string {
	if head, tail, ok := strings.Cut(r.Name, " "); ok && tail == "escape" {
		return args[0] + " " + head + " " + args[1] + " escape " + args[2]
	}
	switch {
	case r.Name == "date_trunc interval":
		return "date_trunc(" + strings.Join(args, ", ") + ")"
	case r.Name == "position":
		return "position(" + args[0] + " in " + args[1] + ")"
	case r.Operator() && len(args) == 1:
		return r.Name + " " + args[0]
	case r.Operator():
		text := args[0] + " " + r.Name + " " + args[1]
		if len(args) == 3 {
			text += " escape " + args[2]
		}
		return text
	case !strings.Contains(r.Signature(), "("):
		return r.Name
	}
	return r.Name + "(" + strings.Join(args, ", ") + ")"
}

// Fitting is a value as a function of PostgreSQL takes it: json_typeof does not take JSONB.
func Fitting(r *funcs.Row, value string) string {
	if strings.HasPrefix(r.Name, "json_") {
		return strings.Replace(value, "::jsonb", "::json", 1)
	}
	return value
}

// Letters are the parameters of a row that a call has at most, one of them more where any number may follow.
func Letters(r *funcs.Row) (letters string, least int) {
	letters, least, more := r.Params()
	if more {
		letters += letters[len(letters)-1:]
	}
	return letters, least
}

// Missing is a letter of a row that Values do not have, "" if there is none.
func Missing(r *funcs.Row) string {
	letters, _ := Letters(r)
	for i := range len(letters) {
		if _, ok := Values[letters[i]]; !ok {
			return letters[i : i+1]
		}
	}
	return ""
}

// Untried says why a function is not in the table of calls, "" if it is.
func Untried(r *funcs.Row) string {
	switch {
	case r.Name == "clock_timestamp", r.Name == "now", r.Name == "today", strings.Contains(r.Name, "current_"), strings.HasPrefix(r.Name, "local"),
		r.Name == "statement_timestamp", r.Name == "transaction_timestamp", r.Name == "user", r.Name == "session_user", r.Name == "version":
		return "its value is another each time"
	case r.Fn != nil && r.Fn.Volatile:
		return "its value is another each time"
	case r.Name == "setseed":
		return "PostgreSQL calls its result void"
	case r.Name == "nextval", r.Name == "currval", r.Name == "lastval", r.Name == "setval":
		return "it needs a sequence"
	case funcs.LooksAtCatalog(r.Name):
		return "it looks at the catalog"
	case r.Name == "age" && len(r.Args) == 1:
		return "it counts from today"
	}
	return ""
}

// Calls are the arguments of the calls of a row that the table of functions has: each parameter NULL by itself, all empty, all extreme (four of these),
// and multi-byte texts where there are any.
func Calls(r *funcs.Row) [][]string {
	letters, _ := Letters(r)
	if letters == "" {
		return [][]string{nil}
	}
	var calls [][]string
	call := func(class func(p int) (Class, int)) {
		args := make([]string, len(letters))
		for p := range args {
			c, n := class(p)
			of := Values[letters[p]][c]
			if c == Plain || c == Multibyte && of == nil {
				of = Values[letters[p]][Plain]
				if m := Meant(r, p); m != nil {
					of = m
				}
			}
			args[p] = Fitting(r, of[n%len(of)])
		}
		calls = append(calls, args)
	}
	for null := range len(letters) {
		call(func(p int) (Class, int) {
			if p == null {
				return Null, 0
			}
			return Plain, p
		})
	}
	call(func(int) (Class, int) { return Empty, 0 })
	// Where a parameter takes only some values, the extremes of the others are tried with these.
	for n := range 4 {
		call(func(p int) (Class, int) {
			if Meant(r, p) != nil {
				return Plain, n
			}
			return Extreme, n
		})
	}
	multi := false
	for p := range len(letters) {
		multi = multi || Values[letters[p]][Multibyte] != nil
	}
	if multi {
		call(func(p int) (Class, int) {
			if Meant(r, p) != nil {
				return Plain, p + 1
			}
			return Multibyte, p
		})
	}
	call(func(p int) (Class, int) { return Plain, p + 1 })
	// The same values may come again where a type has few.
	seen := map[string]bool{}
	return slices.DeleteFunc(calls, func(args []string) bool {
		text := Text(r, args)
		again := seen[text]
		seen[text] = true
		return again
	})
}
