package plan

import "github.com/kelpiedb/kelpie/internal/types"

// Expr is a scalar expression. Casts are explicit: operands of arithmetic and
// comparison already have the types that the operator wants.
type Expr interface {
	Type() types.Type
}

// Ref reads a column.
type Ref struct {
	ID ColID
	T  types.Type
}

// Const is a literal.
type Const struct{ V types.Value }

// Op is a built-in operation; the table opinfo.go names each. Package eval says what each means, scalar.CanEmit
// for which there is code.
type Op uint8

const (
	OpNone Op = iota
	// Arithmetic: both operands and the result have one kind; decimals: Add and Sub have operands of
	// the result's scale; Mul adds scales; Div is on floats, or integers (truncating).
	Add
	Sub
	Mul
	Div
	Mod
	Neg
	// Comparison: operands of one type (decimals of one scale); result Bool.
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	NotDistinct // IS NOT DISTINCT FROM, never NULL
	// Logic, three-valued; And and Or take any number of operands.
	And
	Or
	Not
	IsNull // never NULL
	IsTrue // never NULL: NULL counts as false
	// Conditional.
	Case     // when1, then1, when2, then2, …, else
	Coalesce //
	NullIf
	InList // needle, then constants of its type
	// Text.
	Like      // text, pattern, in which a backslash escapes
	Substring // text, start, length: by characters as in PostgreSQL
	Length    // characters
	OctetLength
	Lower
	Upper
	Concat // ||: NULL if any is
	Trim   // text, characters; Ltrim, Rtrim likewise
	Ltrim
	Rtrim
	Replace
	Position // substring position, 1-based
	StartsWith
	LeftStr  // left(text, n)
	RightStr // right(text, n)
	// Dates.
	Extract     // field as Const text, then date or timestamp; result per PostgreSQL but BIGINT for integral fields
	DateAdd     // date + integer days → date
	DateSub     // date - date → integer days
	DateTrunc   // field as Const text, timestamp → timestamp
	AddInterval // timestamp + interval → timestamp (a date operand is cast before)
	// Numbers.
	Abs
	Round // number, digits (Const)
	Floor
	Ceil
	Trunc
	Sqrt
	Sign
	Power
	Exp
	Ln
	Log10
	Greatest // NULLs ignored
	Least
	// Cast converts its operand to T.
	Cast
	// Apply is a function without an operation of its own: Call.Fn says which.
	Apply
	numOps
)

// Call applies an operation.
type Call struct {
	Op   Op
	T    types.Type
	Args []Expr
	Pos  int       // in the query text, for run-time errors; -1 unknown
	Fn   *Function // of Apply, nil for all others
}

// SubKind is how a subquery is used in an expression.
type SubKind uint8

const (
	Scalar SubKind = iota // (select …): one row, one column; NULL when empty, error when more
	Exists                // exists (select …)
	In                    // needle op ANY (select …): Cmp Eq is IN; others are quantified comparisons
	All                   // needle op ALL (select …)
)

// Subquery is a subquery in an expression, as the binder leaves it. It may refer
// to columns of the enclosing query. The optimizer's unnesting pass replaces all of them
// by joins; later stages never see one.
type Subquery struct {
	Kind   SubKind
	Plan   Node
	Output []ColID // Scalar: one; In, All: as many as Needle
	Needle []Expr
	Cmp    Op
	T      types.Type
	Pos    int
}

func (e *Ref) Type() types.Type      { return e.T }
func (e *Const) Type() types.Type    { return e.V.Type }
func (e *Call) Type() types.Type     { return e.T }
func (e *Subquery) Type() types.Type { return e.T }
