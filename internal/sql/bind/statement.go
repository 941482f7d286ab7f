package bind

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Bound is a bound statement: a pointer to one of the structs of this file, for a
// type switch in the session.
type Bound interface{ bound() }

// Query is SELECT, VALUES and their like.
type Query struct{ Plan *plan.Query }

// CreateTable is CREATE TABLE. The columns are always known; with AS their rows come from Query.
type CreateTable struct {
	Schema, Name string
	Columns      []catalog.ColumnDef
	Keys         [][]int // unique keys as column ordinals
	Rules        catalog.Rules
	Sequences    []*catalog.Sequence // of its columns
	IfNotExists  bool
	OrReplace    bool
	Temp         bool
	Query        *plan.Query // AS query; nil without, or WITH NO DATA
	Notices      []string
	Pos          int
}

// CreateView is CREATE VIEW; the query was bound once to see that it is right.
type CreateView struct {
	View        *catalog.View
	IfNotExists bool
	OrReplace   bool
	Temp        bool
	Pos         int
}

// Drop is DROP of whatever kind. Names are for the session to find.
type Drop struct{ *ast.Drop }

// Create puts a relation under its name: CREATE SCHEMA, SEQUENCE and MACRO.
type Create struct {
	Relation               catalog.Relation
	Tag                    string
	IfNotExists, OrReplace bool
	Pos                    int
}

// Comment is COMMENT ON.
type Comment struct{ *ast.Comment }

// AlterTable is ALTER TABLE: each of its actions is bound by AlterAction when those before it are done.
type AlterTable struct{ *ast.AlterTable }

// AlterSequence puts another sequence in the place of one.
type AlterSequence struct {
	Sequence *catalog.Sequence // nil: there is none, and IF EXISTS
	Name     string
	Pos      int
}

// CreateIndex is CREATE INDEX.
type CreateIndex struct {
	Table       *catalog.Table
	Columns     []int // nil of an index that is not unique
	Index       catalog.Index
	Unique      bool
	IfNotExists bool
	Pos         int
}

// Analyze is ANALYZE or VACUUM of tables that are there.
type Analyze struct{ Tag string }

// Insert adds the rows of Query to Table. Query's output is one column for each of the table's, in
// order, of the column's kind; NOT NULL, VARCHAR(n) of computed texts and unique keys
// are for whoever stores the rows to check.
type Insert struct {
	Table     *catalog.Table
	Query     *plan.Query
	Ignore    []int      // of these keys of the table, rows that are there already are left out
	Returning *Returning // nil without
	Pos       int
}

// Change changes rows of a table, by a query over the rows and their numbers. The query's output is a column for each of Rows,
// if there is one: the table's columns and then those that RETURNING wants besides; the number of the row, NULL for a
// new one; and, if there are several Kinds, an INTEGER that tells which of them it is, from 1 on.
type Change struct {
	Verb     string // the command tag, without the number of rows
	Table    *catalog.Table
	Base     *catalog.Snapshot // whose rows have the numbers
	Version  uint64            // of the table, as Table.Version tells
	Query    *plan.Query       // nil: all rows go
	Rows     *catalog.Table    // nil: nothing is stored or returned
	Kinds    []ChangeKind
	Assigned []bool        // columns that may differ in updated rows; nil: all
	Again    string        // the message if a row is changed twice; "" if the query sees to it
	Refusals []*diag.Error // those of the Kinds that are RefuseRow, which come first
	Distinct []int         // keys of the table that new rows must not have twice: Again says so

	Returning *Returning // nil without
	Pos       int
}

// ChangeKind is what becomes of a row.
type ChangeKind uint8

const (
	KeepRow ChangeKind = iota
	InsertRow
	UpdateRow
	DeleteRow
	RefuseRow // it is an error: see Change.Refusals
)

// Truncate empties tables.
type Truncate struct {
	Tables  []*catalog.Table
	Restart bool // the sequences of their columns, too
	Cascade bool // and the tables that refer to them
	Pos     int
}

// Describe lists columns: of a table, a file or a query.
type Describe struct {
	Table   *catalog.Table // nil for a query or view
	Names   []string
	Types   []types.Type
	NotNull []bool
	Foreign []string // types that a file has and SQL has not, "" for others
}

// Show is SHOW name, SHOW ALL (All) or SHOW TABLES (Tables).
type Show struct {
	Name   string
	All    bool
	Tables bool
	Pos    int
}

// Set is SET name = value; several values are a list. Default is SET name TO DEFAULT and
// RESET name; with All it is RESET ALL.
type Set struct {
	Name    string
	Values  []types.Value
	Local   bool
	Default bool
	Reset   bool // it was written as RESET
	All     bool
	Pos     int
}

// Call is CALL name(args).
type Call struct {
	Name string
	Args []Arg
	Pos  int
}

// Arg is a constant argument or option; Name is "" if it was given by position only.
type Arg struct {
	Name  string
	Value types.Value
	Pos   int
}

// Explain asks how a statement is run. Options are those in parentheses except
// ANALYZE and VERBOSE; an option without value is TRUE.
type Explain struct {
	Analyze bool
	Verbose bool
	Options []Arg
	Stmt    Bound
}

// Transaction, Prepare, Execute and Deallocate are the session's own affairs; only their
// arguments are evaluated here.
type Transaction struct{ *ast.Transaction }

// Prepare keeps a statement's tree for later. Types are those given for the parameters.
type Prepare struct {
	Name  string
	Types []types.Type
	Stmt  ast.Statement
	Text  string
	Pos   int
}

// Execute runs a prepared statement.
type Execute struct {
	Name string
	Args []types.Value
	Pos  int
}

// Deallocate forgets a prepared statement.
type Deallocate struct {
	Name string
	All  bool
	Pos  int
}

func (*Query) bound()         {}
func (*CreateTable) bound()   {}
func (*CreateView) bound()    {}
func (*Drop) bound()          {}
func (*Insert) bound()        {}
func (*Change) bound()        {}
func (*Create) bound()        {}
func (*AlterTable) bound()    {}
func (*Comment) bound()       {}
func (*AlterSequence) bound() {}
func (*AlterEnum) bound()     {}
func (*CreateIndex) bound()   {}
func (*WithChanges) bound()   {}
func (*Analyze) bound()       {}
func (*Truncate) bound()      {}
func (*Copy) bound()          {}
func (*Describe) bound()      {}
func (*Show) bound()          {}
func (*Set) bound()           {}
func (*Call) bound()          {}
func (*Explain) bound()       {}
func (*Transaction) bound()   {}
func (*Prepare) bound()       {}
func (*Execute) bound()       {}
func (*Deallocate) bound()    {}

// Statement binds any statement.
func Statement(env Env, stmt ast.Statement, params []types.Value) (out Bound, err error) {
	defer diag.Recover("bind", &err)
	return newBinder(env, params).statement(stmt), nil
}

func (b *binder) statement(stmt ast.Statement) Bound {
	switch s := stmt.(type) {
	case *ast.Query:
		return &Query{b.root(s)}
	case *ast.Insert:
		return b.insert(s)
	case *ast.Update:
		return b.update(s)
	case *ast.Delete:
		return b.delete(s)
	case *ast.Merge:
		return b.merge(s)
	case *ast.WithChanges:
		return b.withChanges(s)
	case *ast.Truncate:
		t := &Truncate{Restart: s.Restart, Cascade: s.Cascade, Pos: s.Pos}
		for _, n := range s.Tables {
			t.Tables = append(t.Tables, b.target(n, "truncate"))
		}
		return t
	case *ast.CreateTable:
		return b.createTable(s)
	case *ast.CreateView:
		return b.createView(s)
	case *ast.Drop:
		return &Drop{s}
	case *ast.AlterTable:
		return &AlterTable{s}
	case *ast.Comment:
		return &Comment{s}
	case *ast.CreateIndex:
		return b.createIndex(s)
	case *ast.CreateSchema:
		if isSystemSchema(s.Name.Name) || catalog.IsMain(s.Name.Name) {
			if !s.IfNotExists {
				fail(diag.DuplicateSchema, s.Name.Pos, "schema %q already exists", s.Name.Name)
			}
		}
		return &Create{Relation: &catalog.Schema{Name: s.Name.Name}, Tag: "CREATE SCHEMA", IfNotExists: s.IfNotExists, Pos: s.Name.Pos}
	case *ast.Sequence:
		return b.sequence(s)
	case *ast.CreateMacro:
		return b.createMacro(s)
	case *ast.CreateType:
		return b.createType(s)
	case *ast.AlterEnum:
		return b.alterEnum(s)
	case *ast.Pragma:
		return b.pragma(s)
	case *ast.Analyze:
		for _, n := range s.Tables {
			b.target(n, "analyze")
		}
		if s.Vacuum {
			return &Analyze{"VACUUM"}
		}
		return &Analyze{"ANALYZE"}
	case *ast.Copy:
		return b.copy(s)
	case *ast.Describe:
		return b.describe(s)
	case *ast.ShowTables:
		return &Show{Tables: true, Pos: s.Pos}
	case *ast.Show:
		return &Show{Name: s.Name, All: s.All, Pos: s.Pos}
	case *ast.Set:
		out := &Set{Name: s.Name, Local: s.Local, Default: s.Default, Pos: s.Pos}
		for _, x := range s.Values {
			out.Values = append(out.Values, b.constant(x, "SET"))
		}
		return out
	case *ast.Reset:
		return &Set{Name: s.Name, Default: true, Reset: true, All: s.All, Pos: s.Pos}
	case *ast.Call:
		if name, args, ok := pragmaCall(s.Func); ok {
			return b.pragma(&ast.Pragma{Pos: s.Pos, Name: name, Args: args})
		}
		out := &Call{Name: s.Func.Name.Last(), Pos: s.Pos}
		for _, a := range s.Func.Args {
			a = namedOption(a)
			out.Args = append(out.Args, Arg{a.Name.Name, b.constant(a.X, "CALL"), a.X.Position()})
		}
		return out
	case *ast.Explain:
		out := &Explain{Analyze: s.Analyze, Verbose: s.Verbose, Options: b.options(s.Options)}
		b.explain = true
		out.Stmt = b.statement(s.Stmt)
		return out
	case *ast.Transaction:
		return &Transaction{s}
	case *ast.Prepare:
		out := &Prepare{Name: s.Name.Name, Stmt: s.Stmt, Text: s.Text, Pos: s.Pos}
		for _, t := range s.Types {
			out.Types = append(out.Types, b.typeName(t))
		}
		return out
	case *ast.Execute:
		out := &Execute{Name: s.Name.Name, Pos: s.Pos}
		for _, x := range s.Args {
			out.Args = append(out.Args, b.constant(x, "EXECUTE"))
		}
		return out
	case *ast.Deallocate:
		return &Deallocate{Name: s.Name.Name, All: s.All, Pos: s.Pos}
	}
	panic(diag.Internalf("bind", "statement %T", stmt))
}

// constant evaluates an argument that must be a constant; what names the place. A
// string literal is Text.
func (b *binder) constant(x ast.Expr, what string) types.Value {
	e := b.settle(b.expr(&scope{clause: what}, x))
	c, ok := e.(*plan.Const)
	if !ok {
		unsupported(x.Position(), "an expression that is not a constant in %s", what)
	}
	return c.V
}

// options evaluates a list of options; one without value is TRUE.
func (b *binder) options(list []ast.Option) []Arg {
	var out []Arg
	for _, o := range list {
		a := Arg{Name: o.Name, Value: types.BoolValue(true), Pos: o.Pos}
		if o.Value != nil {
			a.Value = b.constant(o.Value, "an option")
		}
		out = append(out, a)
	}
	return out
}

// target finds the table that a statement changes; verb is for the message.
func (b *binder) target(n ast.Name, verb string) *catalog.Table {
	schema, name := splitName(n)
	if t, ok := b.env.Table(schema, name); ok {
		if isSystemSchema(t.Schema) && verb != "analyze" {
			fail(diag.InsufficientPrivilege, n.Pos(), "permission denied: %q is a system catalog", t.Name)
		}
		return t
	}
	if _, ok := b.env.View(schema, name); ok {
		fail(diag.WrongObjectType, n.Pos(), "cannot %s view %q", verb, name)
	}
	panic(b.unknownTable(n))
}
