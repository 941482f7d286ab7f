package ast

// Expr is a scalar expression. The implementations are the pointer types of this
// file: Literal, TypedLiteral, Interval, Param, ColumnRef, Star, Default, Unary,
// Binary, Logical, Not, IsNull, IsBool, IsDistinct, Between, InList, InQuery, Like,
// Quantified, Cast, Collate, AtTimeZone, Subscript, Field, Extract, Func, Case,
// Subquery, Exists, Array, ArrayQuery, Row.
type Expr interface {
	Node
	expr()
}

// LitKind is the lexical kind of a literal.
type LitKind uint8

const (
	LitNull    LitKind = iota
	LitBool            // Text is "true" or "false"
	LitInt             // Text is decimal digits only; may exceed any integer type
	LitDecimal         // Text has a point and keeps its scale: 100.00, .5, 5.
	LitFloat           // Text has an exponent: 1e-5
	LitString          // Text is the value: quotes removed, escapes done
)

// Literal is an untyped constant.
type Literal struct {
	Pos  int
	Kind LitKind
	Text string
}

// TypedLiteral is type 'text': DATE '1998-09-02', numeric(4,2) '1.5'.
type TypedLiteral struct {
	Pos  int
	Type TypeName
	Text string
}

// Interval is INTERVAL '3 months' (no Unit), INTERVAL '3' MONTH (Unit "month"),
// INTERVAL '1-2' YEAR TO MONTH (Unit "year to month"), and INTERVAL 3 MONTH or
// INTERVAL (x) MONTH, which have X instead of Text.
type Interval struct {
	Pos       int
	Text      string
	X         Expr   // number of units; nil if Text holds the value
	Unit      string // "", or year, month, day, week, hour, minute, second, ... in the singular
	Precision int    // of second(p) or interval(p), -1 if not given
}

// Param is $n or ?, numbered from 1.
type Param struct {
	Pos   int
	Index int
}

// ColumnRef is a possibly qualified name in an expression.
type ColumnRef struct {
	Pos  int
	Name Name
}

// Star is * or t.* in a select list. It appears nowhere else: count(*) is a Func
// with Star set.
type Star struct {
	Pos       int
	Qualifier Name         // t in t.*, or a column that is a struct
	Of        Expr         // x in (x).*
	Exclude   []Ident      // * EXCLUDE (a, b)
	Replace   []SelectItem // * REPLACE (expr AS a): Alias is always set
	Rename    []Rename     // * RENAME (a AS b)
	// Leaving are names of columns that a PIVOT leaves out where there are such; nothing may be left then. It is not written.
	Leaving []string
}

// Rename gives a column of a star another name.
type Rename struct{ Old, New Ident }

// Default is the DEFAULT of INSERT ... VALUES and UPDATE ... SET.
type Default struct{ Pos int }

// Unary is a prefix operator: "-", "+", "~", ... (never NOT, see Not).
type Unary struct {
	Pos int
	Op  string
	X   Expr
}

// Binary is an infix operator: + - * / % ^ = <> < <= > >= || ~ ~* !~ !~* -> ->>
// and any other operator token. Pos is the operator's.
type Binary struct {
	Pos  int
	Op   string
	L, R Expr
}

// LogicalOp is AND or OR.
type LogicalOp uint8

const (
	And LogicalOp = iota
	Or
)

// String returns "and" or "or".
func (op LogicalOp) String() string {
	if op == Or {
		return "or"
	}
	return "and"
}

// Logical is AND or OR over two or more arguments. a AND b AND c is one node, so
// that long predicates are wide and not deep. Pos is the first operator's.
type Logical struct {
	Pos  int
	Op   LogicalOp
	Args []Expr
}

// Not is NOT x.
type Not struct {
	Pos int
	X   Expr
}

// IsNull is x IS [NOT] NULL (also ISNULL, NOTNULL).
type IsNull struct {
	Pos int
	X   Expr
	Not bool
}

// TruthValue is the right side of IS TRUE and its like.
type TruthValue uint8

const (
	True TruthValue = iota
	False
	Unknown
)

// String returns "true", "false" or "unknown".
func (v TruthValue) String() string { return [...]string{"true", "false", "unknown"}[v] }

// IsBool is x IS [NOT] TRUE | FALSE | UNKNOWN.
type IsBool struct {
	Pos   int
	X     Expr
	Value TruthValue
	Not   bool
}

// IsDistinct is l IS [NOT] DISTINCT FROM r.
type IsDistinct struct {
	Pos  int
	L, R Expr
	Not  bool
}

// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
type Between struct {
	Pos       int
	X, Lo, Hi Expr
	Not       bool
	Symmetric bool
}

// InList is x [NOT] IN (a, b, ...).
type InList struct {
	Pos  int
	X    Expr
	List []Expr
	Not  bool
}

// InQuery is x [NOT] IN (select ...); X may be a Row.
type InQuery struct {
	Pos   int
	X     Expr
	Query *Query
	Not   bool
}

// LikeKind tells the pattern languages apart.
type LikeKind uint8

const (
	PlainLike LikeKind = iota
	ILike
	SimilarTo
)

// String returns the operator: "like", "ilike", "similar to".
func (k LikeKind) String() string { return [...]string{"like", "ilike", "similar to"}[k] }

// Like is x [NOT] LIKE pattern [ESCAPE escape]; Escape is nil if not given.
type Like struct {
	Pos     int
	Kind    LikeKind
	X       Expr
	Pattern Expr
	Escape  Expr
	Not     bool
}

// Quantified is x op ANY (...) or x op ALL (...); exactly one of Query and Array is
// set. SOME is ANY. Op is as in Binary, or [not] like, [not] ilike.
type Quantified struct {
	Pos   int
	X     Expr
	Op    string
	All   bool
	Query *Query
	Array Expr
}

// Cast is CAST(x AS type), TRY_CAST(x AS type) or x::type.
type Cast struct {
	Pos  int
	X    Expr
	Type TypeName
	Try  bool
}

// Collate is x COLLATE name.
type Collate struct {
	Pos  int
	X    Expr
	Name Name
}

// AtTimeZone is x AT TIME ZONE zone; Zone is nil for AT LOCAL.
type AtTimeZone struct {
	Pos     int
	X, Zone Expr
}

// Subscript is x[index] or, if Slice, x[index:upper] where either may be nil.
type Subscript struct {
	Pos          int
	X            Expr
	Index, Upper Expr
	Slice        bool
}

// Field is (x).name.
type Field struct {
	Pos  int
	X    Expr
	Name Ident
}

// Extract is EXTRACT(field FROM x); Field is folded: year, month, epoch, ...
type Extract struct {
	Pos   int
	Field string
	X     Expr
}

// Arg is an argument of a function; Name is set for name => value.
type Arg struct {
	Name Ident
	X    Expr
}

// Func is a call in function syntax, and all that SQL writes in its own way:
//
//	SUBSTRING(x FROM a FOR b)   substring(x, a, b)
//	POSITION(a IN b)            position(a, b): the place of a in b
//	TRIM(LEADING c FROM x)      ltrim(x, c); likewise rtrim and btrim
//	OVERLAY(x PLACING y FROM a) overlay(x, y, a)
//	CURRENT_DATE                current_date with Bare set
//	COALESCE, NULLIF, GREATEST, LEAST, GROUPING   as they are
type Func struct {
	Pos         int
	Name        Name
	Args        []Arg
	Star        bool  // count(*)
	StarOf      *Star // COLUMNS(* EXCLUDE (a)): what is said about the star
	Unpack      bool  // *COLUMNS(…): all columns are arguments of the function around it
	Bare        bool  // written without parentheses: CURRENT_DATE
	Distinct    bool  // agg(DISTINCT x)
	Variadic    bool  // the last argument is VARIADIC
	IgnoreNulls bool  // IGNORE NULLS
	OrderBy     []OrderItem
	WithinGroup []OrderItem
	Filter      Expr
	Over        *Window // nil if not a window call
}

// Lambda is x -> body or (x, y) -> body, which is only an argument.
type Lambda struct {
	Pos    int
	Params []Ident
	Body   Expr
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Case is CASE [operand] WHEN ... END; Operand and Else may be nil.
type Case struct {
	Pos     int
	Operand Expr
	Whens   []When
	Else    Expr
}

// Subquery is a query used as a scalar.
type Subquery struct {
	Pos   int
	Query *Query
}

// Exists is EXISTS (query).
type Exists struct {
	Pos   int
	Query *Query
}

// Array is ARRAY[a, b] or [a, b].
type Array struct {
	Pos   int
	Elems []Expr
}

// ArrayQuery is ARRAY(query).
type ArrayQuery struct {
	Pos   int
	Query *Query
}

// Row is (a, b) or ROW(a, b).
type Row struct {
	Pos   int
	Elems []Expr
}

// Struct is {'a': 1, 'b': 2}.
type Struct struct {
	Pos    int
	Keys   []Ident
	Values []Expr
}

func (e *Struct) expr()       {}
func (e *Lambda) expr()       {}
func (e *Literal) expr()      {}
func (e *TypedLiteral) expr() {}
func (e *Interval) expr()     {}
func (e *Param) expr()        {}
func (e *ColumnRef) expr()    {}
func (e *Star) expr()         {}
func (e *Default) expr()      {}
func (e *Unary) expr()        {}
func (e *Binary) expr()       {}
func (e *Logical) expr()      {}
func (e *Not) expr()          {}
func (e *IsNull) expr()       {}
func (e *IsBool) expr()       {}
func (e *IsDistinct) expr()   {}
func (e *Between) expr()      {}
func (e *InList) expr()       {}
func (e *InQuery) expr()      {}
func (e *Like) expr()         {}
func (e *Quantified) expr()   {}
func (e *Cast) expr()         {}
func (e *Collate) expr()      {}
func (e *AtTimeZone) expr()   {}
func (e *Subscript) expr()    {}
func (e *Field) expr()        {}
func (e *Extract) expr()      {}
func (e *Func) expr()         {}
func (e *Case) expr()         {}
func (e *Subquery) expr()     {}
func (e *Exists) expr()       {}
func (e *Array) expr()        {}
func (e *ArrayQuery) expr()   {}
func (e *Row) expr()          {}
