package session

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// DB is what sessions share.
type DB struct {
	Catalog *catalog.Catalog
	files   fileTables
	gpu     accelerator
	simt    accelerator  // simulated
	history phys.History // of queries under device 'auto'
	scans   atomic.Int64 // of files whose rejects were stored
	fused   compile.Decided
}

// NewDB returns an empty database.
func NewDB() *DB { return &DB{Catalog: catalog.New(), simt: accelerator{simulated: true}} }

// Session is one connection's state. Its methods may be called from several goroutines; settings
// changed by one statement hold for those that start later. Statements of a transaction run one after
// the other.
type Session struct {
	DB       *DB
	mu       sync.Mutex // guards what follows
	settings Settings
	initial  Settings // what RESET brings back
	prepared map[string]*prepared
	open     *transaction // since BEGIN; nil: each statement is a transaction of its own
	closed   bool
	numbers  bind.Numbers // that it got from sequences
	// Progress, if set, is told how far a long statement is.
	Progress func(stage string, done, total, rows int64)
	// Stdin and Stdout are what COPY FROM STDIN reads and COPY TO STDOUT writes; nil: such statements are refused.
	Stdin  io.Reader
	Stdout io.Writer
}

// New opens a session with default settings.
func New(db *DB) *Session {
	return &Session{DB: db, settings: DefaultSettings(), initial: DefaultSettings(), prepared: map[string]*prepared{}}
}

// prepared is a statement kept by PREPARE.
type prepared struct {
	stmt  ast.Statement
	text  string
	types []types.Type
}

// Timing says where a statement's time went.
type Timing struct {
	Parse, Plan, Compile, Exec time.Duration
}

// Total is the sum.
func (t Timing) Total() time.Duration { return t.Parse + t.Plan + t.Compile + t.Exec }

// Statement is a parsed statement, ready to run.
type Statement struct {
	ast.Parsed
	parse time.Duration
}

// GivesRows reports whether the statement is one that answers with rows.
func (s *Statement) GivesRows() bool {
	return givesRows(s.Stmt)
}

// Stdio tells whether the statement is COPY FROM STDIN, or COPY TO STDOUT.
func (s *Statement) Stdio() (in, out bool) {
	c, ok := s.Stmt.(*ast.Copy)
	return ok && c.Stdio && c.From, ok && c.Stdio && !c.From
}

func givesRows(stmt ast.Statement) bool {
	switch st := stmt.(type) {
	case *ast.WithChanges:
		return givesRows(st.Stmt)
	case *ast.Insert:
		return len(st.Returning) > 0
	case *ast.Update:
		return len(st.Returning) > 0
	case *ast.Delete:
		return len(st.Returning) > 0
	case *ast.Call:
		return st.Func.Name.Last() == "run_plan"
	case *ast.Query, *ast.Explain, *ast.Describe, *ast.Show, *ast.ShowTables, *ast.Execute:
		return true
	}
	return false
}

// Parse cuts a text into statements.
func Parse(text string) ([]Statement, error) { return parseUntil(nil, text) }

func parseUntil(done <-chan struct{}, text string) ([]Statement, error) {
	start := time.Now()
	list, err := parse.ParseUntil(done, text)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	out := make([]Statement, len(list))
	for i, p := range list {
		out[i] = Statement{p, took / time.Duration(len(list))}
	}
	return out, nil
}

// Parse cuts a text into statements for this session: an error fails its transaction, if it has one.
func (s *Session) Parse(ctx context.Context, text string) ([]Statement, error) {
	stmts, err := parseUntil(ctx.Done(), text)
	if err != nil {
		if tr, _ := s.enter(context.Background()); tr != nil {
			s.fail(tr)
			<-tr.turn
		}
	}
	return stmts, err
}

// Query runs a text of one or more statements and returns the last one's result.
func (s *Session) Query(ctx context.Context, text string, args ...types.Value) (*Result, error) {
	stmts, err := s.Parse(ctx, text)
	if err != nil {
		return nil, err
	}
	res := &Result{}
	for _, st := range stmts {
		res.Close()
		if res, err = s.Run(ctx, st, args...); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// Run runs one statement.
func (s *Session) Run(ctx context.Context, st Statement, args ...types.Value) (res *Result, err error) {
	defer diag.Recover("session", &err)
	if ctx.Err() != nil {
		return nil, diag.Canceled(ctx)
	}
	set := s.Settings()
	ctx, stop := withTimeout(ctx, set.client.timeout)
	defer stop()
	ctx, notices := diag.WithNotices(ctx)
	if res, err = s.transact(ctx, st, args); err != nil {
		return nil, timeoutError(ctx, err)
	}
	res.said = notices
	res.quiet(set.client.messages)
	return res, nil
}

// View is the tables as the session's next statement would see them.
func (s *Session) View() *catalog.Tx {
	if tr, _ := s.enter(context.Background()); tr != nil {
		defer func() { <-tr.turn }()
		if tr.tx != nil {
			return tr.tx
		}
	}
	return s.DB.Catalog.Begin()
}

// ViewColumns are the columns of a view.
func (s *Session) ViewColumns(v *catalog.View) ([]Column, error) { return s.ViewColumnsIn(s.View(), v) }

// ViewColumnsIn are the columns of a view as a transaction sees it.
func (s *Session) ViewColumnsIn(tx *catalog.Tx, v *catalog.View) ([]Column, error) {
	describe := &ast.Describe{Table: ast.Name{{Name: catalog.SchemaOf(v)}, {Name: v.Name}}}
	b, err := bind.Statement(s.env(context.Background(), tx), describe, nil)
	if err != nil {
		return nil, err
	}
	d := b.(*bind.Describe)
	out := make([]Column, len(d.Names))
	for i := range out {
		out[i] = Column{d.Names[i], d.Types[i], !d.NotNull[i]}
	}
	return out, nil
}

// attempt runs one statement in a transaction. Whatever goes wrong is an error.
func (s *Session) attempt(ctx context.Context, tx *catalog.Tx, st Statement, args []types.Value) (res *Result, err error) {
	defer diag.Recover("session", &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // columns and tuples lie outside of the Go heap
	start := time.Now()
	ctx = withRejects(ctx)
	b, err := bind.Statement(s.env(ctx, tx), st.Stmt, args)
	if err != nil {
		return nil, err
	}
	t := Timing{Parse: st.parse, Plan: time.Since(start)}
	if res, err = s.run(ctx, tx, b, t); err != nil || !reads(b) {
		return res, err
	}
	if err := s.storeRejects(ctx, tx); err != nil {
		res.Close()
		return nil, err
	}
	return res, nil
}

func (s *Session) run(ctx context.Context, tx *catalog.Tx, b bind.Bound, t Timing) (*Result, error) {
	if verb := writes(b); verb != "" && s.readOnly() {
		return nil, diag.Errorf(diag.ReadOnlyTransaction, diag.NoPos, "cannot execute %s in a read-only transaction", verb)
	}
	switch b := b.(type) {
	case *bind.Query:
		return s.query(ctx, b.Plan, t)
	case *bind.Explain:
		return s.explain(ctx, tx, b, t)
	case *bind.CreateTable:
		return s.createTable(ctx, tx, b, t)
	case *bind.CreateView:
		mode := mode(b.IfNotExists, b.OrReplace)
		if err := tx.CreateView(b.View, mode); err != nil {
			return nil, at(err, b.Pos)
		}
		return done("CREATE VIEW", t), nil
	case *bind.Drop:
		return s.drop(ctx, tx, b, t)
	case *bind.Insert:
		return s.insert(ctx, tx, b, t)
	case *bind.Change:
		return s.changeRows(ctx, tx, b, t)
	case *bind.WithChanges:
		return s.withChanges(ctx, tx, b, t)
	case *bind.Truncate:
		return s.truncate(ctx, tx, b, t)
	case *bind.Create:
		return s.create(tx, b, t)
	case *bind.CreateIndex:
		return s.createIndex(tx, b, t)
	case *bind.AlterTable:
		return s.alterTable(ctx, tx, b, t)
	case *bind.Comment:
		return s.comment(ctx, tx, b, t)
	case *bind.AlterEnum:
		return s.alterEnum(ctx, tx, b, t)
	case *bind.AlterSequence:
		return alterSequence(tx, b, t)
	case *bind.Analyze:
		return done(b.Tag, t), nil
	case *bind.Copy:
		return s.copy(ctx, tx, b, t)
	case *bind.Describe:
		return describe(b, t), nil
	case *bind.Show:
		return s.show(ctx, tx, b, t)
	case *bind.Set:
		return s.set(b, t)
	case *bind.Call:
		return s.call(ctx, tx, b, t)
	case *bind.Prepare:
		return s.prepare(b, t)
	case *bind.Execute:
		return s.execute(ctx, tx, b, t)
	case *bind.Deallocate:
		return s.deallocate(b, t)
	}
	return nil, diag.Internalf("session", "statement %T", b)
}

// at gives an error without a position one.
func at(err error, pos int) error {
	if e, ok := err.(*types.Error); ok {
		d := diag.Errorf(e.Code, pos, "%s", e.Msg)
		d.Detail = e.Detail
		return d
	}
	return err
}

func mode(ifNotExists, orReplace bool) catalog.IfExists {
	switch {
	case ifNotExists:
		return catalog.Keep
	case orReplace:
		return catalog.Replace
	}
	return catalog.Fail
}

func (s *Session) prepare(b *bind.Prepare, t Timing) (*Result, error) {
	switch b.Stmt.(type) {
	case *ast.Transaction, *ast.Prepare, *ast.Execute, *ast.Deallocate:
		return nil, diag.Unsupported(b.Pos, "PREPARE of a statement that is about the session")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared[b.Name] != nil {
		return nil, diag.Errorf(diag.DuplicatePreparedStatement, b.Pos, "prepared statement %q already exists", b.Name)
	}
	s.prepared[b.Name] = &prepared{b.Stmt, b.Text, b.Types}
	return done("PREPARE", t), nil
}

func (s *Session) execute(ctx context.Context, tx *catalog.Tx, b *bind.Execute, t Timing) (*Result, error) {
	s.mu.Lock()
	p := s.prepared[b.Name]
	s.mu.Unlock()
	if p == nil {
		return nil, diag.Errorf(diag.InvalidSQLStatementName, b.Pos, "prepared statement %q does not exist", b.Name)
	}
	wrongNumber := func() error {
		return diag.Errorf(diag.SyntaxError, b.Pos, "wrong number of parameters for prepared statement %q", b.Name)
	}
	if len(p.types) > 0 && len(b.Args) != len(p.types) {
		return nil, wrongNumber()
	}
	args := slices.Clone(b.Args)
	where := s.env(ctx, tx)
	for i, want := range p.types {
		if i < len(args) && want != (types.Type{}) {
			v, err := types.CastAt(where.Zone(), where.Now().UnixMicro(), args[i], want)
			if err != nil {
				return nil, at(err, b.Pos)
			}
			args[i] = v
		}
	}
	start := time.Now()
	inner, err := bind.Statement(where, p.stmt, args)
	switch {
	case diag.CodeOf(err) == "42P02": // a parameter that is not given
		return nil, wrongNumber()
	case err != nil:
		return nil, err
	}
	t.Plan += time.Since(start)
	return s.run(ctx, tx, inner, t)
}

func (s *Session) deallocate(b *bind.Deallocate, t Timing) (*Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.All {
		clear(s.prepared)
		return done("DEALLOCATE ALL", t), nil
	}
	if s.prepared[b.Name] == nil {
		return nil, diag.Errorf(diag.InvalidSQLStatementName, b.Pos, "prepared statement %q does not exist", b.Name)
	}
	delete(s.prepared, b.Name)
	return done("DEALLOCATE", t), nil
}
