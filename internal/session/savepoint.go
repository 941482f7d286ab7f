package session

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// savepoint is a point of a transaction to which it can return. Several may have one name: the last of them hides the
// others.
type savepoint struct {
	name               string
	mark               *catalog.Mark // nil: the transaction had not looked at tables yet
	settings, onCommit Settings
	readOnly           bool
}

// savepoint is SAVEPOINT, RELEASE or ROLLBACK TO in an open transaction.
func (s *Session) savepoint(tr *transaction, c *ast.Transaction, t Timing) (*Result, error) {
	if c.Kind == ast.Savepoint {
		p := savepoint{name: c.Name.Name, readOnly: tr.readOnly}
		if tr.tx != nil {
			p.mark = tr.tx.Mark()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		p.settings, p.onCommit = s.settings, tr.onCommit
		tr.savepoints = append(tr.savepoints, p)
		return done("SAVEPOINT", t), nil
	}
	i := len(tr.savepoints) - 1
	for i >= 0 && tr.savepoints[i].name != c.Name.Name {
		i--
	}
	if i < 0 {
		return nil, diag.Errorf(diag.InvalidSavepoint, c.Name.Pos, "savepoint %q does not exist", c.Name.Name)
	}
	if c.Kind == ast.Release {
		tr.savepoints = tr.savepoints[:i]
		return done("RELEASE", t), nil
	}
	p := &tr.savepoints[i]
	tr.savepoints = tr.savepoints[:i+1]
	if tr.tx != nil {
		tr.tx.ReturnTo(p.mark)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, tr.onCommit, tr.readOnly = p.settings, p.onCommit, p.readOnly
	tr.failed = false
	return done("ROLLBACK", t), nil
}
