// Package parse turns SQL text into the tree of package ast.
//
// Parse takes any bytes and returns statements with their spans, or one
// *diag.Error (42601 for syntax) with a position and, where cheap, a hint; it never
// panics and never recurses deeper than maxDepth. The dialect is PostgreSQL's, with
// DuckDB's conveniences: FROM first, FROM 'file', * EXCLUDE, GROUP BY ALL, QUALIFY.
//
// lex.go cuts the text into a token slice (so lookahead is an index), parser.go
// holds the cursor and the errors, expr.go climbs PostgreSQL's precedence ladder,
// query.go and table.go read queries; the other statements are in the stmt files.
// Inside the package errors travel by panic and are caught at the door.
package parse
