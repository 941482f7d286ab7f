// Package types holds SQL types and values: what a column may contain, and how
// constants are represented, parsed, printed and computed with in Go.
//
// In: type names and literal texts. Out: Type and Value. Generated code never
// calls this package, but must agree with it bit for bit; Phys says how a type
// looks to generated code. Read type.go first, then value.go.
package types
