package ast

import "strings"

// Node is anything with a place in the query text.
type Node interface {
	Position() int
}

// Ident is one identifier. Name is folded to lower case unless it was quoted.
type Ident struct {
	Name   string
	Pos    int
	Quoted bool
}

// Empty says that the identifier was not given (an absent alias, say).
func (id Ident) Empty() bool { return id.Name == "" }

// Name is a possibly qualified name: table, schema.table, table.column.
type Name []Ident

// Last is the rightmost part as text: the column in table.column.
func (n Name) Last() string {
	if len(n) == 0 {
		return ""
	}
	return n[len(n)-1].Name
}

// Pos is the position of the first part, or -1.
func (n Name) Pos() int {
	if len(n) == 0 {
		return -1
	}
	return n[0].Pos
}

// String joins the parts with dots and quotes where SQL needs it.
func (n Name) String() string {
	if len(n) == 1 {
		return QuoteIdent(n[0].Name)
	}
	var b strings.Builder
	for i, id := range n {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(QuoteIdent(id.Name))
	}
	return b.String()
}

// TypeName is a type as written, not yet looked up. Multiword standard names are
// unified: "double precision", "varchar" (character varying), "char" (character),
// "timestamp"/"timestamptz", "time"/"timetz", "varbit" (bit varying); any other
// name (int, int4, bigint, text, mytype) is as written, folded.
type TypeName struct {
	Pos    int
	Schema string  // pg_catalog in pg_catalog.int4
	Name   string  // folded, unified
	Mods   []int64 // (15, 2) in decimal(15, 2)
	Fields string  // "year to month" in interval year to month
	Dims   int     // number of [] after the name
	// Members are the fields of struct(a int, b text) and row(…), and the two types of map(text, int), which have no names.
	Members []TypeMember
	Labels  []string // of enum('a', 'b')
}

// TypeMember is a part of a nested type.
type TypeMember struct {
	Name Ident
	Type TypeName
}

// Parsed is one statement of a script, with its place in the script's text.
type Parsed struct {
	Stmt   Statement
	Text   string // script[Pos:End], without surrounding space, comments and semicolon
	Pos    int
	End    int
	Params int // highest parameter number: $3 counts as 3, each ? takes the next
}
