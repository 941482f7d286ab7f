// Package ast is the syntax tree of SQL: what package parse returns and the
// binder walks. It is plain data: exported structs behind three small interfaces
// (Statement, TableExpr, Expr), meant for type switches.
//
// The tree says what was written, with names folded (unquoted identifiers are
// lower case) and spellings unified (!= is <>, SUBSTRING(x FROM 1) is a call of
// substring), but nothing is resolved: a name may be a column, a type or a typo.
// Every node has Pos, the byte offset of its most telling token in the text given
// to the parser: the operator for operators, the first token for all else.
//
// Read expr.go, query.go and statement.go for the nodes; format.go prints an
// expression, names.go gives the output column's name, keywords.go lists the
// words that need quotes.
package ast
