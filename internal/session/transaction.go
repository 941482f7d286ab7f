package session

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// transaction is what a session has between BEGIN and COMMIT or ROLLBACK. All of its statements see
// the tables as they were when the first of them ran, and what the transaction itself has changed since. Each
// isolation level is at least that; serializable is more.
type transaction struct {
	turn      chan struct{} // who puts something in may run a statement: they go one after the other
	tx        *catalog.Tx   // nil before the first statement that looks at tables
	began     time.Time
	isolation string
	readOnly  bool
	failed    bool // a statement failed: nothing but the end is left; guarded by the session's mu
	// SET is a part of the transaction, too: what its end makes of the settings.
	onCommit, onRollback Settings
	savepoints           []savepoint
}

// Status is where a session is between transactions.
type Status byte

// The letters are those of PostgreSQL's protocol.
const (
	Idle          Status = 'I'
	InTransaction Status = 'T'
	Failed        Status = 'E' // in a transaction of which a statement failed
)

// Status says whether a transaction is open.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open == nil:
		return Idle
	case s.open.failed:
		return Failed
	}
	return InTransaction
}

// Close ends the session and rolls an open transaction back, after its statement that still runs, if there is one.
func (s *Session) Close() {
	s.mu.Lock()
	tr := s.open
	s.closed = true
	s.mu.Unlock()
	if tr == nil {
		return
	}
	tr.turn <- struct{}{}
	defer func() { <-tr.turn }()
	s.end(tr, false)
}

// enter waits for the session's turn in its transaction, nil if there is none.
func (s *Session) enter(ctx context.Context) (*transaction, error) {
	for {
		s.mu.Lock()
		tr, closed := s.open, s.closed
		s.mu.Unlock()
		if closed {
			return nil, diag.Errorf(diag.ConnectionDoesNotExist, diag.NoPos, "the session is closed")
		}
		if tr == nil {
			return nil, nil
		}
		select {
		case tr.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, diag.Canceled(ctx)
		}
		s.mu.Lock()
		still := s.open == tr
		s.mu.Unlock()
		if still {
			return tr, nil
		}
		<-tr.turn // it ended meanwhile
	}
}

// transact runs a statement in the session's transaction, or, if there is none, in one of its own.
func (s *Session) transact(ctx context.Context, st Statement, args []types.Value) (*Result, error) {
	tr, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	control, _ := st.Stmt.(*ast.Transaction)
	if tr == nil {
		if control != nil {
			return s.outside(control, Timing{Parse: st.parse})
		}
		return s.autocommit(ctx, st, args)
	}
	defer func() { <-tr.turn }()
	res, err := s.inside(ctx, tr, control, st, args)
	if err != nil {
		s.fail(tr)
	}
	return res, err
}

// inside runs a statement of an open transaction. If it fails, so has the transaction.
func (s *Session) inside(ctx context.Context, tr *transaction, control *ast.Transaction, st Statement, args []types.Value) (*Result, error) {
	ends := control != nil && (control.Kind == ast.Commit || control.Kind == ast.Rollback || control.Kind == ast.RollbackTo)
	if s.Status() == Failed && !ends {
		return nil, diag.Errorf(diag.FailedTransaction, diag.NoPos,
			"current transaction is aborted, commands ignored until end of transaction block")
	}
	if control != nil {
		return s.control(ctx, tr, control, Timing{Parse: st.parse})
	}
	if tr.tx == nil && seesTables(st.Stmt) {
		tr.tx = s.DB.Catalog.Begin()
		if tr.isolation == serializable {
			tr.tx.Serializable()
		}
	}
	res, err := s.attempt(ctx, tr.tx, st, args)
	return res, commitError(err)
}

// seesTables tells statements for which it matters when the transaction's view of the tables begins.
func seesTables(st ast.Statement) bool {
	switch st.(type) {
	case *ast.Set, *ast.Reset, *ast.Show, *ast.Prepare, *ast.Deallocate:
		return false
	}
	return true
}

// optimistic is how often a statement by itself is tried while others may commit.
const optimistic = 3

// autocommit runs a statement as a transaction of its own. If others were faster to change what it changes, it is
// simply run again, on what they have left; and in the end without others being able to.
func (s *Session) autocommit(ctx context.Context, st Statement, args []types.Value) (*Result, error) {
	for try := 1; ; try++ {
		tx := s.DB.Catalog.Begin()
		if try > optimistic {
			var err error
			if tx, err = s.DB.Catalog.BeginAlone(ctx); err != nil {
				return nil, diag.Canceled(ctx)
			}
		}
		if s.Settings().client.isolation == serializable {
			tx.Serializable()
		}
		res, err := s.attempt(ctx, tx, st, args)
		if err == nil {
			if err = tx.Commit(ctx); err == nil {
				return res, nil
			}
			res.Close()
		}
		tx.Rollback()
		var late *catalog.Conflict
		if try > optimistic || !errors.As(err, &late) {
			return nil, commitError(err)
		}
	}
}

// commitError is an error of Tx.Commit, or another, for the user.
func commitError(err error) error {
	var late *catalog.Conflict
	switch {
	case err == context.Canceled, err == context.DeadlineExceeded:
		return diag.CanceledBy(err)
	case errors.As(err, &late):
		err = late.Unwrap()
	}
	return at(err, diag.NoPos)
}

// outside runs a transaction statement while no transaction is open.
func (s *Session) outside(c *ast.Transaction, t Timing) (*Result, error) {
	switch c.Kind {
	case ast.Begin:
		s.begin(c, s.Settings())
		return done("BEGIN", t), nil
	case ast.Commit, ast.Rollback:
		tag := map[ast.TxKind]string{ast.Commit: "COMMIT", ast.Rollback: "ROLLBACK"}[c.Kind]
		if c.Chain {
			return nil, diag.Errorf(diag.NoActiveTransaction, c.Pos, "%s AND CHAIN can only be used in transaction blocks", tag)
		}
		return done(tag, t).warn(diag.NoActiveTransaction, "there is no transaction in progress"), nil
	case ast.SetTransaction:
		if c.Session {
			return s.characteristics(c, t), nil
		}
		return done("SET", t).warn(diag.NoActiveTransaction, "SET TRANSACTION can only be used in transaction blocks"), nil
	}
	what := map[ast.TxKind]string{ast.Savepoint: "SAVEPOINT", ast.Release: "RELEASE SAVEPOINT", ast.RollbackTo: "ROLLBACK TO SAVEPOINT"}[c.Kind]
	return nil, diag.Errorf(diag.NoActiveTransaction, c.Pos, "%s can only be used in transaction blocks", what)
}

// control runs a transaction statement while a transaction is open.
func (s *Session) control(ctx context.Context, tr *transaction, c *ast.Transaction, t Timing) (*Result, error) {
	switch c.Kind {
	case ast.Begin:
		tr.modes(c)
		return done("BEGIN", t).warn(diag.ActiveTransaction, "there is already a transaction in progress"), nil
	case ast.Commit, ast.Rollback:
		return s.finish(ctx, tr, c, t)
	case ast.SetTransaction:
		if c.Session {
			return s.characteristics(c, t), nil
		}
		if c.Isolation != "" && c.Isolation != tr.isolation && tr.tx != nil {
			return nil, diag.Errorf(diag.ActiveTransaction, c.Pos, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
		}
		if c.ReadWrite && tr.readOnly && tr.tx != nil {
			return nil, diag.Errorf(diag.ActiveTransaction, c.Pos, "transaction read-write mode must be set before any query")
		}
		tr.modes(c)
		return done("SET", t), nil
	}
	return s.savepoint(tr, c, t)
}

// finish is COMMIT or ROLLBACK of an open transaction. A failed one is rolled back in any case, as is one that cannot be
// committed.
func (s *Session) finish(ctx context.Context, tr *transaction, c *ast.Transaction, t Timing) (*Result, error) {
	commit := c.Kind == ast.Commit && s.Status() != Failed
	var err error
	if commit && tr.tx != nil {
		err = commitError(tr.tx.Commit(ctx))
		tr.tx = nil
	}
	s.end(tr, commit && err == nil)
	if err != nil {
		return nil, err
	}
	if c.Chain {
		s.begin(&ast.Transaction{Isolation: tr.isolation, ReadOnly: tr.readOnly, ReadWrite: !tr.readOnly}, s.Settings())
	}
	if commit {
		return done("COMMIT", t), nil
	}
	return done("ROLLBACK", t), nil
}

// begin opens a transaction.
func (s *Session) begin(c *ast.Transaction, set Settings) {
	tr := &transaction{turn: make(chan struct{}, 1), began: time.Now(), isolation: set.client.isolation, readOnly: set.client.readOnly, onCommit: set, onRollback: set}
	tr.modes(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = tr
}

// modes takes what BEGIN or SET TRANSACTION says.
func (tr *transaction) modes(c *ast.Transaction) {
	if c.Isolation != "" {
		tr.isolation = c.Isolation
	}
	tr.readOnly = c.ReadOnly || tr.readOnly && !c.ReadWrite
}

// characteristics is SET SESSION CHARACTERISTICS: how transactions begin from now on.
func (s *Session) characteristics(c *ast.Transaction, t Timing) *Result {
	s.change(false, func(set *Settings) {
		if c.Isolation != "" {
			set.client.isolation = c.Isolation
		}
		set.client.readOnly = c.ReadOnly || set.client.readOnly && !c.ReadWrite
	})
	return done("SET", t)
}

// readOnly reports that the transaction may change nothing.
func (s *Session) readOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		return s.open.readOnly
	}
	return s.settings.client.readOnly
}

// writes is what a statement is called that changes tables, "" if it does not.
func writes(b bind.Bound) string {
	switch b := b.(type) {
	case *bind.CreateTable:
		return "CREATE TABLE"
	case *bind.CreateView:
		return "CREATE VIEW"
	case *bind.Drop:
		return "DROP " + strings.ToUpper(dropKinds[b.Kind])
	case *bind.Create:
		return b.Tag
	case *bind.CreateIndex:
		return "CREATE INDEX"
	case *bind.AlterTable:
		return "ALTER TABLE"
	case *bind.Comment:
		return "COMMENT"
	case *bind.AlterEnum:
		return "ALTER TYPE"
	case *bind.AlterSequence:
		return "ALTER SEQUENCE"
	case *bind.Insert:
		return "INSERT"
	case *bind.Change:
		verb, _, _ := strings.Cut(b.Verb, " ")
		return verb
	case *bind.Truncate:
		return "TRUNCATE TABLE"
	case *bind.Copy:
		if b.From {
			return "COPY FROM"
		}
	case *bind.Call:
		if b.Name != "run_plan" {
			return "CALL"
		}
	}
	return ""
}

// fail remembers that a statement of the transaction failed. What it has done so far is given up at once, unless it may return
// to a savepoint.
func (s *Session) fail(tr *transaction) {
	if tr.tx != nil && len(tr.savepoints) == 0 {
		tr.tx.Rollback()
		tr.tx = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tr.failed = true
}

// end closes a transaction of which everything is published, or nothing will be.
func (s *Session) end(tr *transaction, committed bool) {
	if tr.tx != nil {
		tr.tx.Rollback()
		tr.tx = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != tr {
		return
	}
	s.open = nil
	s.settings = tr.onRollback
	if committed {
		s.settings = tr.onCommit
	}
}
