package ast

// Statement is one SQL statement: *Query or a pointer type of this file.
type Statement interface {
	Node
	statement()
}

// Insert is INSERT INTO t [(columns)] query | DEFAULT VALUES. VALUES is a Query whose
// Body is *Values; its rows may hold Default.
type Insert struct {
	Pos           int
	With          *With
	Table         Name
	Alias         Ident
	Columns       []Ident
	Query         *Query // nil for DEFAULT VALUES
	DefaultValues bool
	ByName        bool        // BY NAME: the query's columns say which of the table's they are
	Overriding    bool        // OVERRIDING SYSTEM VALUE
	OnConflict    *OnConflict // nil without
	Returning     []SelectItem
}

// OnConflict is ON CONFLICT [(columns) | ON CONSTRAINT name] DO NOTHING | DO UPDATE SET ... [WHERE ...], and INSERT OR IGNORE | OR
// REPLACE, which are short for it.
type OnConflict struct {
	Pos        int
	Columns    []Ident
	Constraint Ident // may be Empty
	Nothing    bool
	Replace    bool // DO UPDATE of all columns that INSERT names
	Set        []Assignment
	Where      Expr
}

// Assignments are those of DO UPDATE.
func (c *OnConflict) Assignments() []Assignment {
	if c == nil {
		return nil
	}
	return c.Set
}

// Condition is that of DO UPDATE, nil if there is none.
func (c *OnConflict) Condition() Expr {
	if c == nil {
		return nil
	}
	return c.Where
}

// Merge is MERGE INTO t USING source ON condition WHEN ...
type Merge struct {
	Pos   int
	With  *With
	Table Name
	Alias Ident
	Using TableExpr
	On    Expr
	Whens []MergeWhen
}

// WithChanges is a statement with WITH queries some of which change rows. Stmt itself has no WITH.
type WithChanges struct {
	Pos  int
	With *With
	Stmt Statement
}

// MergeAction is what a clause of MERGE does.
type MergeAction uint8

const (
	MergeNothing MergeAction = iota
	MergeInsert
	MergeUpdate
	MergeDelete
)

// MergeWhen is WHEN [NOT] MATCHED [AND condition] THEN action.
type MergeWhen struct {
	Pos     int
	Matched bool
	And     Expr // nil if not given
	Action  MergeAction
	Set     []Assignment // of MergeUpdate
	Columns []Ident      // of MergeInsert
	Values  []Expr       // of MergeInsert; nil is DEFAULT VALUES
}

// Update is UPDATE t SET ... [FROM ...] [WHERE ...].
type Update struct {
	Pos       int
	With      *With
	Table     Name
	Alias     Ident
	Set       []Assignment
	From      []TableExpr
	Where     Expr
	Returning []SelectItem
}

// Assignment is column = expr, or, if Several, (a, b) = row or subquery.
type Assignment struct {
	Columns []Ident
	Fields  []Ident // b, c in SET a.b.c = x
	Several bool
	X       Expr
}

// Delete is DELETE FROM t [USING ...] [WHERE ...].
type Delete struct {
	Pos       int
	With      *With
	Table     Name
	Alias     Ident
	Using     []TableExpr
	Where     Expr
	Returning []SelectItem
}

// Truncate is TRUNCATE [TABLE] a, b.
type Truncate struct {
	Pos     int
	Tables  []Name
	Restart bool // RESTART IDENTITY
	Cascade bool // tables that refer to them, too
}

// CreateTable is CREATE TABLE t (columns) or CREATE TABLE t [(names)] AS query.
type CreateTable struct {
	Pos         int
	OrReplace   bool
	IfNotExists bool
	Temp        bool
	Name        Name
	Columns     []ColumnDef
	Constraints []Constraint // table-level ones; column-level ones are in Columns
	As          *Query       // nil without AS
	AsColumns   []Ident      // names before AS
	NoData      bool         // WITH NO DATA
	OnCommit    string       // "", delete (its rows) or drop
}

// ColumnDef is a column of CREATE TABLE.
type ColumnDef struct {
	Pos        int
	Name       Ident
	Type       TypeName
	NotNull    bool
	PrimaryKey bool
	Unique     bool
	Default    Expr // nil if not given
	// Constraints are CHECK and REFERENCES, and keys that have a name.
	Constraints []Constraint
	Like        Name     // LIKE t: in the place of this column are those of t; nil if it is a column
	Comment     string   // that LIKE brings
	Including   []string // of LIKE: defaults, generated, identity, constraints, indexes, comments
	Generated   Expr     // AS (expression) STORED; nil if not given
	Identity    Identity // GENERATED … AS IDENTITY
	Sequence    []Option // of an identity
}

// Identity says who gives a column its numbers.
type Identity uint8

const (
	NoIdentity        Identity = iota
	IdentityAlways             // only the sequence
	IdentityByDefault          // the sequence, if INSERT does not
)

// ConstraintKind is the kind of a table-level constraint.
type ConstraintKind uint8

const (
	PrimaryKey ConstraintKind = iota
	Unique
	ForeignKey
	Check
)

// Constraint is a table-level constraint.
type Constraint struct {
	Pos        int
	Name       Ident // CONSTRAINT name; may be Empty
	Kind       ConstraintKind
	Columns    []Ident
	References *References // of ForeignKey
	Check      Expr        // of Check
}

// References is REFERENCES t [(columns)] [ON DELETE action] [ON UPDATE action].
type References struct {
	Table              Name
	Columns            []Ident
	OnDelete, OnUpdate RefAction
}

// RefAction is what becomes of rows that refer to one that is changed.
type RefAction uint8

const (
	NoAction RefAction = iota
	Restrict
	Cascade
	SetNull
	SetDefault
)

// AlterKind is what ALTER TABLE does.
type AlterKind uint8

const (
	AddColumn AlterKind = iota
	DropColumn
	RenameColumn
	RenameTable
	AlterType
	SetDefaultValue // Expr nil: DROP DEFAULT
	SetNotNull
	DropNotNull
	AddConstraint
	DropConstraint
	RenameConstraint
	SetSchema
	DropExpression
)

// AlterTable is ALTER TABLE [IF EXISTS] t action, ... A view is renamed by it, too.
type AlterTable struct {
	Pos      int
	View     bool // ALTER VIEW
	IfExists bool
	Name     Name
	Actions  []AlterAction
}

// AlterAction is one change.
type AlterAction struct {
	Pos        int
	Kind       AlterKind
	Name       Ident      // of the column or constraint
	To         Ident      // new name
	Exists     bool       // IF EXISTS, IF NOT EXISTS
	Cascade    bool       // of a drop
	Column     ColumnDef  // of AddColumn
	Type       TypeName   // of AlterType
	X          Expr       // USING, DEFAULT
	Constraint Constraint // of AddConstraint
}

// Comment is COMMENT ON kind name IS 'text' | NULL.
type Comment struct {
	Pos  int
	Kind string // table, view, column, sequence, schema, function, type, index or constraint
	Name Name
	On   Name    // of a constraint: its table
	Text *string // nil: NULL, which takes the comment away
}

// CreateIndex is CREATE [UNIQUE] INDEX [name] ON t (columns).
type CreateIndex struct {
	Pos         int
	Unique      bool
	IfNotExists bool
	Name        Ident // may be Empty
	Table       Name
	Columns     []Ident // "" for an expression
}

// CreateSchema is CREATE SCHEMA name.
type CreateSchema struct {
	Pos         int
	IfNotExists bool
	Name        Ident
}

// CreateType is CREATE TYPE name AS ENUM (labels), or AS ENUM (query).
type CreateType struct {
	Pos         int
	IfNotExists bool
	Name        Name
	Labels      []Ident
	Query       *Query
}

// EnumChange is what ALTER TYPE does.
type EnumChange uint8

const (
	AddLabel EnumChange = iota
	RenameLabel
	RenameEnum
)

// AlterEnum is ALTER TYPE name ADD VALUE …, RENAME VALUE … and RENAME TO ….
type AlterEnum struct {
	Pos    int
	Name   Name
	Kind   EnumChange
	Exists bool  // IF NOT EXISTS
	Label  Ident // the new one, or the one that is renamed
	To     Ident // its new name, or the type's
	Before bool  // the new one comes before Beside
	Beside Ident // Pos is -1: it comes last
}

// Sequence is CREATE SEQUENCE and ALTER SEQUENCE.
type Sequence struct {
	Pos                          int
	Alter                        bool
	Temp, IfNotExists, OrReplace bool // Alter: IfNotExists is IF EXISTS
	Name                         Name
	Options                      []Option // increment, minvalue, maxvalue, start, restart, cycle, owned; without a value: NO …
}

// CreateMacro is CREATE MACRO name(parameters) AS expression or AS TABLE query, and CREATE FUNCTION … LANGUAGE SQL.
type CreateMacro struct {
	Pos         int
	OrReplace   bool
	IfNotExists bool
	Temp        bool
	Function    bool // CREATE FUNCTION
	Name        Name
	Params      []MacroParam
	Result      *TypeName // RETURNS type; nil if not given
	X           Expr      // scalar
	Query       *Query    // table
	Text        string    // of X or Query
}

// MacroParam is a parameter, with its type if that is given.
type MacroParam struct {
	Name    Ident
	Type    *TypeName
	Default Expr
}

// Pragma is PRAGMA name, name = value or name(arguments).
type Pragma struct {
	Pos  int
	Name string
	Args []Expr
	Set  bool // name = value
}

// Analyze is ANALYZE and VACUUM, of tables that are named or of all.
type Analyze struct {
	Pos    int
	Vacuum bool
	Tables []Name
}

// CreateView is CREATE VIEW v [(columns)] AS query. QueryText is the text of the
// query alone, for a catalog that stores views as text.
type CreateView struct {
	Pos         int
	OrReplace   bool
	IfNotExists bool
	Temp        bool
	Name        Name
	Columns     []Ident
	Query       *Query
	QueryText   string
}

// DropKind is what DROP drops.
type DropKind uint8

const (
	DropTable DropKind = iota
	DropView
	DropIndex
	DropSchema
	DropSequence
	DropMacro
	DropType
)

// Drop is DROP kind [IF EXISTS] a, b [CASCADE | RESTRICT].
type Drop struct {
	Pos      int
	Kind     DropKind
	IfExists bool
	Names    []Name
	Cascade  bool
}

// Describe is DESCRIBE t, DESCRIBE query or DESCRIBE 'file'; exactly one of Table, Query
// and File is set. In FROM (DESCRIBE …) it is Query.
type Describe struct {
	Pos   int
	Table Name
	File  string
	Query *Query
}

// ShowTables is SHOW TABLES.
type ShowTables struct{ Pos int }

// Show is SHOW name, or SHOW ALL.
type Show struct {
	Pos  int
	Name string // folded; dotted names joined; "" if All
	All  bool
}

// Set is SET [SESSION | LOCAL] name = value, ... A bare word is a LitString, ON and
// OFF among them. Default says SET name TO DEFAULT.
type Set struct {
	Pos     int
	Local   bool
	Name    string // folded; SET TIME ZONE is "timezone"
	Values  []Expr
	Default bool
}

// Reset is RESET name, or RESET ALL.
type Reset struct {
	Pos  int
	Name string
	All  bool
}

// Option is NAME [value] in the parenthesized lists of COPY and EXPLAIN. A bare word
// is a LitString as written (folded), TRUE and FALSE are LitBool, (a, b) is a Row of LitStrings,
// * is a Star; no value is nil and means "on".
type Option struct {
	Pos   int
	Name  string // folded
	Value Expr
}

// Copy is COPY t [(columns)] FROM file, COPY t TO file or COPY (query) TO file.
type Copy struct {
	Pos     int
	Table   Name // nil if Query
	Columns []Ident
	Query   *Query
	From    bool   // FROM, not TO
	File    string // "" if Stdio
	FilePos int
	Stdio   bool // STDIN or STDOUT
	Options []Option
}

// Explain is EXPLAIN [ANALYZE] [VERBOSE] [(options)] statement. ANALYZE and VERBOSE
// among the options are also set as flags here; all other options stay in Options.
type Explain struct {
	Pos     int
	Analyze bool
	Verbose bool
	Options []Option
	Stmt    Statement
}

// Call is CALL name(args).
type Call struct {
	Pos  int
	Func *Func
}

// TxKind is the kind of a transaction statement.
type TxKind uint8

const (
	Begin TxKind = iota
	Commit
	Rollback
	Savepoint
	Release
	RollbackTo
	SetTransaction // SET TRANSACTION ...: the modes; with Session they are those of later transactions
)

// Transaction is BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK, ABORT and the
// savepoint statements.
type Transaction struct {
	Pos       int
	Kind      TxKind
	Isolation string // "", "serializable", "repeatable read", "read committed", "read uncommitted"
	ReadOnly  bool
	ReadWrite bool
	Session   bool
	Chain     bool  // COMMIT AND CHAIN: another one begins with the same modes
	Name      Ident // of a savepoint
}

// Prepare is PREPARE name [(types)] AS statement; Text is the inner statement's.
type Prepare struct {
	Pos   int
	Name  Ident
	Types []TypeName
	Stmt  Statement
	Text  string
}

// Execute is EXECUTE name [(args)].
type Execute struct {
	Pos  int
	Name Ident
	Args []Expr
}

// Deallocate is DEALLOCATE [PREPARE] name, or ALL.
type Deallocate struct {
	Pos  int
	Name Ident
	All  bool
}

func (s *Query) statement()        {}
func (s *Insert) statement()       {}
func (s *Update) statement()       {}
func (s *Merge) statement()        {}
func (s *Delete) statement()       {}
func (s *Truncate) statement()     {}
func (s *CreateTable) statement()  {}
func (s *CreateView) statement()   {}
func (s *Drop) statement()         {}
func (s *Describe) statement()     {}
func (s *ShowTables) statement()   {}
func (s *Show) statement()         {}
func (s *Set) statement()          {}
func (s *Reset) statement()        {}
func (s *Copy) statement()         {}
func (s *Explain) statement()      {}
func (s *Call) statement()         {}
func (s *Transaction) statement()  {}
func (s *Prepare) statement()      {}
func (s *Execute) statement()      {}
func (s *Deallocate) statement()   {}
func (s *AlterTable) statement()   {}
func (s *Comment) statement()      {}
func (s *CreateIndex) statement()  {}
func (s *CreateSchema) statement() {}
func (s *Sequence) statement()     {}
func (s *CreateMacro) statement()  {}
func (s *CreateType) statement()   {}
func (s *AlterEnum) statement()    {}
func (s *Pragma) statement()       {}
func (s *Analyze) statement()      {}
func (s *WithChanges) statement()  {}
