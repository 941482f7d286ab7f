package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// The caret ^ in the input marks where the error must point; it is taken out before
// parsing. An empty hint is not checked.
var errorTests = []struct{ in, msg, hint string }{
	{"^selct 1", `syntax error at or near "selct"`, "did you mean SELECT?"},
	{"^upadte t set a = 1", `syntax error at or near "upadte"`, "did you mean UPDATE?"},
	{"create table t (a int unique ^deferrable)", "a constraint that is checked later is not supported", "constraints are checked at the end of each statement"},
	{"create table t (a int primary key ^initially deferred)", "a constraint that is checked later is not supported", ""},
	{"^12", `syntax error at or near "12"`, ""},
	{"select distinct ^", "syntax error at end of input", ""},
	{"select distinct ^from t", `syntax error at or near "from"`, ""},
	{"select f(a, ^)", `syntax error at or near ")"`, "remove the comma before it"},
	{"select a,^, b", `syntax error at or near ","`, ""},
	{"alter ^database t", "ALTER DATABASE is not supported", ""},
	{"^\"alter\" table t", `syntax error at or near ""alter""`, ""},
	{"select a form ^t", `syntax error at or near "t"`, `did you mean FROM instead of "form"?`},
	{"select a from t gruop ^by a", `syntax error at or near "by"`, `did you mean GROUP instead of "gruop"?`},
	{"select a from t wehre ^a = 1", `syntax error at or near "a"`, `did you mean WHERE instead of "wehre"?`},
	{"select (1 + 2^", "syntax error at end of input", "the parenthesis opened at line 1, column 8 is not closed"},
	{"select a from ^order", `syntax error at or near "order"`, `"order" is a reserved word; as a name it needs double quotes`},
	{"select a < b ^< c", `syntax error at or near "<"`, "comparisons do not chain: combine them with AND, or use parentheses"},
	{"select a from t join b^", "syntax error at end of input", "JOIN needs ON or USING (CROSS JOIN does not)"},
	{"select a from t limit 1^, 2", `syntax error at or near ","`, "write LIMIT count OFFSET start"},
	{"select a from t limit 1 ^limit 2", `syntax error at or near "limit"`, ""},
	{"select ^'abc", `unterminated quoted string at or near "'abc"`, ""},
	{"select ^\"abc", "unterminated quoted identifier", ""},
	{"select ^\"\"", "zero-length delimited identifier", ""},
	{"select 1 ^/* abc /* */", "unterminated /* comment", ""},
	{"select ^$x$ abc", `unterminated dollar-quoted string at or near "$x$ abc"`, ""},
	{"select ^12abc", `trailing junk after numeric literal at or near "12abc"`, ""},
	{"select ^$1x", `trailing junk after parameter at or near "$1x"`, ""},
	{"select ^0xzz", `invalid integer literal "0xzz"`, ""},
	{"select ^\\", `syntax error at or near "\"`, ""},
	{"select 'a' ^'b'", `syntax error at or near "'b'"`, ""},
	{"select case ^end", `syntax error at or near "end"`, ""},
	{"select case when a then b^", "syntax error at end of input", "CASE ends with END"},
	{"select interval 3 ^from t", `syntax error at or near "from"`, "a unit must follow: interval 3 month, or interval '3 months'"},
	{"select a is ^1", `syntax error at or near "1"`, "IS is followed by [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM"},
	{"select 1 + t.^* from t", `syntax error at or near "*"`, "t.* may only stand in a select list: the row as one value is t"},
	{"select position(a^, b)", `syntax error at or near ","`, "write position(part IN whole), or strpos(whole, part)"},
	{"values (1), ^(1, 2)", "VALUES lists must all be the same length", ""},
	{"create ^tabel t (a int)", `syntax error at or near "tabel"`, ""},
	{"create table t (a int^", "syntax error at end of input", "the parenthesis opened at line 1, column 16 is not closed"},
	{"create table t (a int ^b int)", `syntax error at or near "b"`, ""},
	{"insert into t ^set a = 1", `syntax error at or near "set"`, ""},
	{"copy (select 1) ^from 'x'", `syntax error at or near "from"`, "a query can only be copied TO a file"},
	{"copy t from ^x", `syntax error at or near "x"`, "the file name stands in single quotes"},
	{"set x ^1", `syntax error at or near "1"`, "write SET name = value"},
	{"explain ^analyse select 1", `syntax error at or near "analyse"`, ""},
	{"select 1;\nselect 2 ^2", `syntax error at or near "2"`, ""},
	{"select ^$0", "there is no parameter $0", ""},
	{"select * from (select 1) ^positional left join b", "POSITIONAL JOIN is not supported", ""},
	{"select * from f(1) ^global inner join b using (t)", "GLOBAL JOIN is not supported", ""},
	{"select * from a ^straight_join b", "STRAIGHT_JOIN is not supported", ""},
	{"select * from a ^semi left join b using (t)", "SEMI JOIN is not supported", ""},
	{"select * from a left ^anti join b using (t)", "ANTI JOIN is not supported", "write a ANTI JOIN b, or WHERE NOT EXISTS; an alias of this name needs AS"},
	{"select ^x'ff'", "bit string literals are not supported", ""},
}

func TestErrors(t *testing.T) {
	for _, c := range errorTests {
		pos := strings.IndexByte(c.in, '^')
		_, err := Parse(c.in[:pos] + c.in[pos+1:])
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.in, err)
			continue
		}
		if e.Msg != c.msg || e.Pos != pos || c.hint != "" && e.Hint != c.hint {
			t.Errorf("%s\n got %q at %d, hint %q\nwant %q at %d, hint %q", c.in, e.Msg, e.Pos, e.Hint, c.msg, pos, c.hint)
		}
	}
}

func TestErrorCodes(t *testing.T) {
	for in, want := range map[string]string{
		"selct": diag.SyntaxError, "select 'a\x00'": diag.CharacterNotInRepertoire, "select '\xff'": diag.CharacterNotInRepertoire,
		`select E'\xff'`: diag.CharacterNotInRepertoire, `select E'\u00'`: diag.InvalidEscapeSequence,
		"select " + strings.Repeat("(", 5000):                         diag.StatementTooComplex,
		"select " + strings.Repeat("- ", 5000) + "1":                  diag.StatementTooComplex,
		"select " + strings.Repeat("not ", 5000) + "a":                diag.StatementTooComplex,
		"select " + strings.Repeat("case when ", 5000):                diag.StatementTooComplex,
		"select " + strings.Repeat("f(", 5000):                        diag.StatementTooComplex,
		"select " + strings.Repeat("[", 5000):                         diag.StatementTooComplex,
		"select 1" + strings.Repeat("+1", 50000):                      diag.StatementTooComplex,
		"select 1" + strings.Repeat("::int", 50000):                   diag.StatementTooComplex,
		"select 1" + strings.Repeat(" union select 1", 50000):         diag.StatementTooComplex,
		"select 1 from " + strings.Repeat("(", 5000):                  diag.StatementTooComplex,
		"select 1 from a" + strings.Repeat(" cross join a", 50000):    diag.StatementTooComplex,
		"select 1 from a" + strings.Repeat(" join a", 5000):           diag.StatementTooComplex,
		strings.Repeat("explain ", 5000):                              diag.StatementTooComplex,
		strings.Repeat("(", 5000):                                     diag.StatementTooComplex,
		"select 1 group by " + strings.Repeat("grouping sets(", 5000): diag.StatementTooComplex,
		strings.Repeat("with x as (", 5000):                           diag.StatementTooComplex,
		"select a" + strings.Repeat("[1", 5000):                       diag.StatementTooComplex,
	} {
		_, err := Parse(in)
		if got := diag.CodeOf(err); got != want {
			t.Errorf("%.40s...: got %v, want %s", in, err, want)
		}
	}
}

// What is long but not deep must work: machines write such queries.
func TestLong(t *testing.T) {
	for _, in := range []string{
		"select a from t where " + strings.Repeat("a = 1 or ", 50000) + "b",
		"select a from t where a in (" + strings.Repeat("1, ", 50000) + "1)",
		"insert into t values " + strings.Repeat("(1, -2, 'x'::text), ", 50000) + "(1, 2, 'y')",
		"select " + strings.Repeat("a || ", 5000) + "b",
		"select " + strings.Repeat("(", 900) + "1" + strings.Repeat(")", 900),
		strings.Repeat("select 1;", 10000),
	} {
		if _, err := Parse(in); err != nil {
			t.Errorf("%.40s...: %v", in, err)
		}
	}
}

func TestCaret(t *testing.T) {
	text := "select l_orderkey\nfrom lineitem\nwehre l_shipdate < date '1998-09-02'"
	_, err := Parse(text)
	want := `ERROR: syntax error at or near "l_shipdate" (42601)
LINE 3: wehre l_shipdate < date '1998-09-02'
              ^
HINT: did you mean WHERE instead of "wehre"?`
	if got := diag.Format(err, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
