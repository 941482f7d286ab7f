package funcs

import (
	_ "embed" // foreign.txt
	"strings"
	"sync"

	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TryCast is TRY_CAST(x AS t), which has a syntax of its own.
var TryCast = &plan.Function{Name: "try_cast", Strict: true, NullOut: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
	v, err := types.Cast(a[0], t)
	if err != nil {
		return null(t)
	}
	return v, nil
}}

// conditionalRows choose between values.
var conditionalRows = []Row{
	made("coalesce", "*…", "coalesce(NULL, 2) → 2"),
	made("constant_or_null", "**…", "constant_or_null(5, 1) → 5"),
	fn("error", "t", tBool, "", func(a []types.Value, _ types.Type) (types.Value, error) {
		return fail("P0001", "%s", a[0].S)
	}, fails),
	made("greatest", "*…", "greatest(1, 4, 2) → 4"),
	made("iif", "b**", "iif(1 < 2, 'yes', 'no') → yes"),
	made("if", "b**", "if(1 < 2, 'yes', 'no') → yes"),
	made("iff", "b**", "iff(1 < 2, 'yes', 'no') → yes"),
	made("ifnull", "**", "ifnull(NULL, 2) → 2"),
	made("isnull", "*", "isnull(NULL) → true"),
	made("least", "*…", "least(1, 4, 2) → 1"),
	made("try", "*", "try(1 / 0) → NULL"),
	made("nullif", "**", "nullif(2, 3) → 2"),
	fn("num_nonnulls", "*…", tInt, "num_nonnulls(1, NULL, 2) → 2", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(len(a))-nulls(a))
	}, seesNull),
	fn("num_nulls", "*…", tInt, "num_nulls(1, NULL, 2) → 1", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, nulls(a))
	}, seesNull),
	made("nvl", "**", "nvl(NULL, 2) → 2"),
	made("zeroifnull", "n", "zeroifnull(NULL::int) → 0"),
}

func nulls(a []types.Value) int64 {
	n := int64(0)
	for _, v := range a {
		if v.Null {
			n++
		}
	}
	return n
}

// systemRows say something about the query, the session or the system.
var systemRows = []Row{
	made("clock_timestamp", "", ""),
	made("current_catalog", "", "current_catalog → kelpie"),
	made("current_database", "", "current_database() → kelpie"),
	made("current_date", "", ""),
	made("current_role", "", "current_role → kelpie"),
	made("current_schema", "", "current_schema → public"),
	made("current_timestamp", "?i", ""),
	made("current_user", "", "current_user → kelpie"),
	made("currval", "t", ""),
	made("get_current_timestamp", "", ""),
	made("lastval", "", ""),
	made("localtime", "?i", ""),
	made("current_time", "?i", ""),
	made("get_current_time", "", ""),
	made("localtimestamp", "?i", ""),
	made("nextval", "t", ""),
	made("now", "", ""),
	made("pg_typeof", "*", "pg_typeof(33) → integer"),
	made("session_user", "", "session_user → kelpie"),
	made("setval", "ti?b", ""),
	made("statement_timestamp", "", ""),
	made("today", "", ""),
	made("transaction_timestamp", "", ""),
	made("typeof", "*", "typeof(33) → INTEGER"),
	made("user", "", "user → kelpie"),
	made("version", "", ""),
	fn("format_bytes", "i", tText, "format_bytes(16384) → 16.0 KiB", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(humanBytes(a[0].I, 1024, "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
	}),
	fn("pg_size_pretty", "i", tText, "pg_size_pretty(10240) → 10 kB", prettySize),
	fn("pg_size_pretty", "m", tText, "", prettyNumeric),
}

// validText reports that a text is UTF-8 without a null character.
func validText(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return false
		}
	}
	return utf8.ValidString(s)
}

// missing says what a function that others have waits for.
func missing(what string) string { return "it needs " + what + ", which Kelpie does not have yet" }

// Absent are functions that PostgreSQL or DuckDB has and Kelpie has not, with what to say.
func Absent(name string) (hint string, ok bool) {
	if hint, ok = absent[name]; ok {
		return hint, ok
	}
	system, ok := foreignNames()[name]
	return system + " has it; docs/functions.md lists the functions that Kelpie has", ok
}

//go:embed foreign.txt
var foreignText string

// foreignNames says of which system a function is that Kelpie has not: those of foreign.txt.
var foreignNames = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	system := ""
	for line := range strings.Lines(foreignText) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			system = strings.TrimPrefix(strings.TrimSpace(name), "tables of ")
			continue
		}
		for _, n := range strings.Fields(line) {
			if m[n] == "" {
				m[n] = system
			}
		}
	}
	return m
})

var absent = func() map[string]string {
	m := map[string]string{}
	for what, names := range map[string][]string{
		missing("lists of several rows or dimensions"):                                {"string_split_regex", "width_buckets"},
		missing("structs and maps"):                                                   {"json_each_recursive"},
		"json_to_record(x) AS t(a INTEGER, b VARCHAR) in FROM takes an object apart":  {"json_populate_record", "jsonb_populate_record", "json_to_record", "jsonb_to_record"},
		"json_to_recordset(x) AS t(a INTEGER, b VARCHAR) in FROM takes objects apart": {"json_populate_recordset", "jsonb_populate_recordset", "json_to_recordset", "jsonb_to_recordset"},
		missing("values that differ on every row"):                                    {"random_normal"},
		"statements run one after the other; statement_timeout bounds them":           {"pg_sleep", "pg_sleep_for", "sleep_ms"},
		"the environment is not visible to queries":                                   {"getenv"},
		"the shell shows its last statement with \\p":                                 {"current_query"},
		missing("Unicode tables"):                                                     {"normalize", "is_normalized", "nfc_normalize", "strip_accents", "unaccent"},
	} {
		for _, n := range names {
			m[n] = what
		}
	}
	return m
}()

// Unsupported is the error for an absent function.
func Unsupported(name, hint string, pos int) *diag.Error {
	return diag.Errorf(diag.FeatureNotSupported, pos, "function %s is not supported", name).WithHint(hint)
}
