package ast

// Query is a whole query expression: a body (SELECT, VALUES or a set operation)
// with the clauses that apply to its result. It is also a Statement.
type Query struct {
	Pos     int
	With    *With
	Body    Body
	OrderBy []OrderItem
	Limit   Expr // nil for none and for LIMIT ALL
	Offset  Expr
	// WithTies is FETCH FIRST n ROWS WITH TIES.
	WithTies bool
	// LimitPercent is LIMIT n%.
	LimitPercent bool
}

// With is the WITH clause.
type With struct {
	Pos       int
	Recursive bool
	CTEs      []CTE
}

// CTE is name [(columns)] AS [[NOT] MATERIALIZED] (query).
type CTE struct {
	Pos          int
	Name         Ident
	Columns      []Ident
	Query        *Query    // nil if Change
	Change       Statement // INSERT, UPDATE or DELETE: only in WithChanges
	Materialized Materialized
}

// Materialized is the CTE's hint to the planner.
type Materialized uint8

const (
	MaterializeDefault Materialized = iota
	MaterializeYes
	MaterializeNo
)

// Body is what a query takes rows from: *Select, *Values, *SetOp, or *Query for a
// parenthesized query with clauses of its own; *Pivot, *Unpivot, *Summarize; in FROM *Describe and *ShowTables.
type Body interface {
	Node
	body()
}

// Select is SELECT ... without the clauses that Query holds. FROM t alone and
// TABLE t are a Select with one Star item.
type Select struct {
	Pos        int
	Distinct   bool
	DistinctOn []Expr // DISTINCT ON (...); Distinct is false then
	Items      []SelectItem
	From       []TableExpr // comma list; empty without FROM
	Where      Expr
	GroupBy    []GroupItem
	GroupByAll bool
	Having     Expr
	Windows    []*Window // WINDOW clause; each has a Name
	Qualify    Expr
	Sample     *Sample // USING SAMPLE: of the rows of FROM, before WHERE
}

// Values is VALUES (a, b), (c, d); all rows have the same length, at least 1.
type Values struct {
	Pos  int
	Rows [][]Expr
}

// SetKind is UNION, INTERSECT or EXCEPT.
type SetKind uint8

const (
	Union SetKind = iota
	Intersect
	Except
)

// String returns the operator in lower case.
func (k SetKind) String() string { return [...]string{"union", "intersect", "except"}[k] }

// SetOp is l UNION | INTERSECT | EXCEPT [ALL] r. Pos is the operator's.
type SetOp struct {
	Pos  int
	Kind SetKind
	All  bool
	// ByName puts columns of one name together; one that a side lacks is NULL there.
	ByName bool
	L, R   Body
}

// SelectItem is one entry of a select list; Alias is Empty if not given.
type SelectItem struct {
	X     Expr
	Alias Ident
}

// Nulls is the NULLS FIRST | LAST of a sort key.
type Nulls uint8

const (
	NullsDefault Nulls = iota // last when ascending, first when descending
	NullsFirst
	NullsLast
)

// OrderItem is a sort key. ORDER BY ALL is one item with All set and X nil.
type OrderItem struct {
	Pos   int
	X     Expr
	All   bool
	Desc  bool
	Nulls Nulls
}

// GroupKind is the kind of a GROUP BY entry.
type GroupKind uint8

const (
	GroupExpr   GroupKind = iota // Exprs[0]
	GroupEmpty                   // ()
	GroupRollup                  // ROLLUP (Exprs...), an element may be a Row
	GroupCube                    // CUBE (Exprs...), likewise
	GroupSets                    // GROUPING SETS (Sets...)
)

// GroupItem is one entry of GROUP BY or of GROUPING SETS. A grouping set of several
// columns is a GroupExpr whose expression is a Row.
type GroupItem struct {
	Pos   int
	Kind  GroupKind
	Exprs []Expr
	Sets  []GroupItem
}

// Window is a window definition: in the WINDOW clause (Name set) or after OVER.
// OVER w is {Ref: w, Bare: true}; OVER (w ORDER BY ...) has Ref without Bare.
type Window struct {
	Pos         int
	Name        Ident
	Ref         Ident
	Bare        bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// FrameUnit is ROWS, RANGE or GROUPS.
type FrameUnit uint8

const (
	FrameRows FrameUnit = iota
	FrameRange
	FrameGroups
)

// FrameExclude is the EXCLUDE of a frame.
type FrameExclude uint8

const (
	ExcludeNoOthers FrameExclude = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// BoundKind is the kind of a frame bound, in frame order.
type BoundKind uint8

const (
	UnboundedPreceding BoundKind = iota
	Preceding                    // Offset PRECEDING
	CurrentRow
	Following // Offset FOLLOWING
	UnboundedFollowing
)

// Bound is one end of a frame; Offset is set for Preceding and Following only.
type Bound struct {
	Pos    int
	Kind   BoundKind
	Offset Expr
}

// Frame is ROWS | RANGE | GROUPS BETWEEN start AND end. The short form, with a start
// only, ends at CurrentRow.
type Frame struct {
	Pos        int
	Unit       FrameUnit
	Start, End Bound
	Exclude    FrameExclude
}

// TableExpr is an entry of FROM: *TableRef, *FileRef, *FuncTable, *SubqueryTable,
// *Join, *SampleTable.
type TableExpr interface {
	Node
	tableExpr()
}

// Alias is [AS] name [(columns)]. All TableExprs hold it by pointer, nil if absent.
type Alias struct {
	Name    Ident
	Columns []Ident
}

// TableRef is a table, view or CTE by name.
type TableRef struct {
	Pos   int
	Name  Name
	Alias *Alias
}

// FileRef is FROM 'file.parquet'.
type FileRef struct {
	Pos   int
	Path  string
	Alias *Alias
}

// FuncTable is a table function: FROM read_csv('x', header => true).
type FuncTable struct {
	Pos        int
	Call       *Func
	Lateral    bool
	Ordinality bool // WITH ORDINALITY
	Alias      *Alias
	Defs       []ColumnDef // names and types of columns; nil if not given
	Names      []string    // of the functions in ROWS FROM, whose rows the call's lists have; nil if it is none
}

// SubqueryTable is (query), also (VALUES ...).
type SubqueryTable struct {
	Pos     int
	Query   *Query
	Lateral bool
	Alias   *Alias
}

// JoinKind is the kind of a join.
type JoinKind uint8

const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	SemiJoin
	AntiJoin
)

// String returns the keyword in lower case: "inner", "left", ...
func (k JoinKind) String() string {
	return [...]string{"inner", "left", "right", "full", "cross", "semi", "anti"}[k]
}

// Join is l JOIN r. At most one of On, Using and Natural is given; none only for
// CrossJoin. Alias is the AS of a parenthesized join. Pos is the JOIN's.
type Join struct {
	Pos     int
	Kind    JoinKind
	Natural bool
	AsOf    bool // of the right rows that fulfil the inequality, the closest one
	ByPlace bool // POSITIONAL: row n with row n; Kind is FullJoin
	L, R    TableExpr
	On      Expr
	Using   []Ident
	Alias   *Alias
}

func (q *Query) body()  {}
func (q *Select) body() {}
func (q *Values) body() {}
func (q *SetOp) body()  {}

func (t *TableRef) tableExpr()      {}
func (t *FileRef) tableExpr()       {}
func (t *FuncTable) tableExpr()     {}
func (t *SubqueryTable) tableExpr() {}
func (t *Join) tableExpr()          {}
