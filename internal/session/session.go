package session

import (
	"context"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// DB is what sessions share.
type DB struct {
	Catalog *catalog.Catalog
	files   fileTables
}

// NewDB returns an empty database.
func NewDB() *DB { return &DB{Catalog: catalog.New()} }

// Session is one connection's state. Its methods may be called from several goroutines; settings
// changed by one statement hold for those that start later.
type Session struct {
	DB       *DB
	mu       sync.Mutex
	settings Settings
	prepared map[string]*prepared
	// Progress, if set, is told how far a long statement is.
	Progress func(stage string, done, total int64)
}

// New opens a session with default settings.
func New(db *DB) *Session {
	return &Session{DB: db, settings: DefaultSettings(), prepared: map[string]*prepared{}}
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

// Parse cuts a text into statements.
func Parse(text string) ([]Statement, error) {
	start := time.Now()
	list, err := parse.Parse(text)
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

// Query runs a text of one or more statements and returns the last one's result.
func (s *Session) Query(ctx context.Context, text string, args ...types.Value) (*Result, error) {
	stmts, err := Parse(text)
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
	if err := ctx.Err(); err != nil {
		return nil, diag.Errorf(diag.QueryCanceled, -1, "canceling statement due to user request")
	}
	start := time.Now()
	b, err := bind.Statement(s.env(), st.Stmt, args)
	if err != nil {
		return nil, err
	}
	t := Timing{Parse: st.parse, Plan: time.Since(start)}
	return s.run(ctx, b, st, t)
}

func (s *Session) run(ctx context.Context, b bind.Bound, st Statement, t Timing) (*Result, error) {
	switch b := b.(type) {
	case *bind.Query:
		return s.query(ctx, b.Plan, t)
	case *bind.Explain:
		return s.explain(ctx, b, t)
	case *bind.CreateTable:
		return s.createTable(ctx, b, t)
	case *bind.CreateView:
		mode := mode(b.IfNotExists, b.OrReplace)
		if err := s.DB.Catalog.CreateView(b.View, mode); err != nil {
			return nil, at(err, b.Pos)
		}
		return done("CREATE VIEW", t), nil
	case *bind.Drop:
		return s.drop(b, t)
	case *bind.Insert:
		return s.insert(ctx, b, t)
	case *bind.Delete:
		return s.remove(ctx, b, t)
	case *bind.Update:
		return s.update(ctx, b, t)
	case *bind.Truncate:
		for _, table := range b.Tables {
			if err := table.Replace(table.Snapshot()); err != nil {
				return nil, err
			}
		}
		return done("TRUNCATE TABLE", t), nil
	case *bind.Copy:
		return s.copy(ctx, b, t)
	case *bind.Describe:
		return describe(b, t), nil
	case *bind.Show:
		return s.show(b, t)
	case *bind.Set:
		if err := s.set(b); err != nil {
			return nil, err
		}
		if b.Default {
			return done("RESET", t), nil
		}
		return done("SET", t), nil
	case *bind.Call:
		return s.call(ctx, b, t)
	case *bind.Transaction:
		return transaction(b, t)
	case *bind.Prepare:
		return s.prepare(b, t)
	case *bind.Execute:
		return s.execute(ctx, b, t)
	case *bind.Deallocate:
		return s.deallocate(b, t)
	}
	return nil, diag.Internalf("session", "statement %T", b)
}

// at gives an error without a position one.
func at(err error, pos int) error {
	if e, ok := err.(*types.Error); ok {
		return diag.Errorf(e.Code, pos, "%s", e.Msg)
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

// transaction: every statement is its own transaction for now, so BEGIN and COMMIT have nothing
// to do, and a ROLLBACK that would have to undo something is refused.
func transaction(b *bind.Transaction, t Timing) (*Result, error) {
	switch b.Kind {
	case ast.Begin:
		return done("BEGIN", t), nil
	case ast.Commit:
		return done("COMMIT", t), nil
	case ast.SetTransaction:
		return done("SET", t), nil
	}
	return nil, diag.Unsupported(b.Pos, "ROLLBACK").WithHint("every statement commits by itself")
}

func (s *Session) prepare(b *bind.Prepare, t Timing) (*Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared[b.Name] != nil {
		return nil, diag.Errorf(diag.DuplicatePreparedStatement, b.Pos, "prepared statement %q already exists", b.Name)
	}
	s.prepared[b.Name] = &prepared{b.Stmt, b.Text, b.Types}
	return done("PREPARE", t), nil
}

func (s *Session) execute(ctx context.Context, b *bind.Execute, t Timing) (*Result, error) {
	s.mu.Lock()
	p := s.prepared[b.Name]
	s.mu.Unlock()
	if p == nil {
		return nil, diag.Errorf(diag.InvalidSQLStatementName, b.Pos, "prepared statement %q does not exist", b.Name)
	}
	args := append([]types.Value(nil), b.Args...)
	for i, want := range p.types {
		if i < len(args) && want != (types.Type{}) {
			v, err := types.Cast(args[i], want)
			if err != nil {
				return nil, at(err, b.Pos)
			}
			args[i] = v
		}
	}
	start := time.Now()
	inner, err := bind.Statement(s.env(), p.stmt, args)
	if err != nil {
		return nil, err
	}
	t.Plan += time.Since(start)
	return s.run(ctx, inner, Statement{}, t)
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
