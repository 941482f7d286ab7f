package kelpie

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// AppendText appends the text of value i of a batch's column, as psql would show it: 12.50,
// 1998-09-02, 1 mon 2 days. NULL appends nothing.
func AppendText(dst []byte, column arrow.Array, i int) []byte {
	return session.AppendCell(dst, column, i)
}

// ParseSize reads a size such as 512MB, 4GiB or 1000000, as SET memory_limit does.
func ParseSize(text string) (int64, error) { return session.ParseBytes(text) }

// QuoteIdent is a name as SQL text, in double quotes where it needs them.
func QuoteIdent(name string) string { return ast.QuoteIdent(name) }

// QuoteString is s as a string literal.
func QuoteString(s string) string { return ast.QuoteString(s) }

// Keywords are the words that cannot be names everywhere without quotes, in lower case, sorted.
func Keywords() []string {
	var out []string
	ast.EachKeyword(func(w string, _ ast.WordClass) { out = append(out, w) })
	slices.Sort(out)
	return out
}
