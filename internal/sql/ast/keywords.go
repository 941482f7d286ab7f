package ast

import "strings"

// WordClass says where a word may stand as a name without quotes. The classes and
// their members are PostgreSQL's, so that the same queries need the same quotes.
type WordClass uint8

const (
	Unreserved WordClass = iota // anywhere
	ColName                     // column and table, not function: coalesce, values, int
	TypeFunc                    // function and type, not column or table: left, join, like
	Reserved                    // only as a column label after AS: select, from, user
)

// Class returns the class of a word in lower case.
func Class(word string) WordClass { return classes[word] }

// QuoteIdent returns name as SQL text: in double quotes where it would otherwise be
// folded, misread or refused.
func QuoteIdent(name string) string {
	if plainIdent(name) && classes[name] == Unreserved {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func plainIdent(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c == '_', c >= 0x80:
		case i > 0 && (c >= '0' && c <= '9' || c == '$'):
		default:
			return false
		}
	}
	return name != ""
}

// QuoteString returns s as a string literal.
func QuoteString(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// EachKeyword calls f for every word that is not Unreserved.
func EachKeyword(f func(word string, class WordClass)) {
	for word, class := range classes {
		f(word, class)
	}
}

var classes = func() map[string]WordClass {
	m := make(map[string]WordClass, 256)
	for class, words := range map[WordClass]string{
		Reserved: `all analyse analyze and any array as asc asymmetric both case cast check collate column
			constraint create current_catalog current_date current_role current_time current_timestamp
			current_user default deferrable desc distinct do else end except false fetch for foreign from
			grant group having in initially intersect into lateral leading limit localtime localtimestamp
			not null offset on only or order placing primary references returning select session_user some
			symmetric table then to trailing true union unique user using variadic when where window with`,
		TypeFunc: `authorization binary collation concurrently cross current_schema freeze full ilike inner
			is isnull join left like natural notnull outer overlaps right similar tablesample verbose`,
		ColName: `between bigint bit boolean char character coalesce dec decimal exists extract float
			greatest grouping inout int integer interval least national nchar none nullif numeric out
			overlay position precision real row setof smallint substring time timestamp treat trim values
			varchar`,
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = class
		}
	}
	return m
}()
