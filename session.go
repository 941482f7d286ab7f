package kelpie

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Session is one user of a database, with settings, prepared statements and a transaction of its own. Its
// methods may be called from several goroutines.
//
// Each statement is a transaction of its own, until BEGIN. From then on all statements see the
// tables as they were when the first of them ran, with what they themselves have changed, and COMMIT lets others see
// all of that at once. It fails with SQLSTATE 40001 if others have changed the rows of the same tables meanwhile
// (rows that were only inserted do not count): then the whole may be tried again. After a statement
// that failed, a transaction accepts nothing but ROLLBACK.
type Session struct {
	db    *DB
	inner *session.Session
}

// Close ends the session. An open transaction is rolled back. Results that are open can still be read.
func (s *Session) Close() error {
	s.inner.Close()
	return nil
}

// Status tells where a session is between transactions. The letters are those of PostgreSQL's protocol.
type Status byte

const (
	Idle          Status = 'I' // no transaction is open: statements commit by themselves
	InTransaction Status = 'T' // since BEGIN
	Failed        Status = 'E' // in a transaction of which a statement failed: it can only be rolled back
)

// Status says whether a transaction is open.
func (s *Session) Status() Status { return Status(s.inner.Status()) }

// Statement is a statement that has been parsed, so that running it again need not parse it.
type Statement struct {
	inner session.Statement
}

// Text is the statement's part of the text given to Parse.
func (s *Statement) Text() string { return s.inner.Text }

// Params is the number of parameters, $1 to $n.
func (s *Statement) Params() int { return s.inner.Params }

// GivesRows reports whether the statement is one that answers with rows.
func (s *Statement) GivesRows() bool { return s.inner.GivesRows() }

// CopiesIn reports COPY FROM STDIN, and CopiesOut COPY TO STDOUT: see Session.Streams.
func (s *Statement) CopiesIn() bool { in, _ := s.inner.Stdio(); return in }

// CopiesOut reports COPY TO STDOUT.
func (s *Statement) CopiesOut() bool { _, out := s.inner.Stdio(); return out }

// Streams says what COPY FROM STDIN reads and what COPY TO STDOUT writes to, in this session from now on. Without them such
// statements are refused.
func (s *Session) Streams(in io.Reader, out io.Writer) { s.inner.Stdin, s.inner.Stdout = in, out }

// Parse cuts a text into the statements that semicolons separate. Positions of later errors are
// offsets in the whole text.
func Parse(text string) ([]*Statement, error) {
	return statements(session.Parse(text))
}

// Parse is Parse for this session: as any other error, one of syntax fails an open transaction.
func (s *Session) Parse(text string) ([]*Statement, error) {
	return statements(s.inner.Parse(context.Background(), text))
}

func statements(list []session.Statement, err error) ([]*Statement, error) {
	if err != nil {
		return nil, export(err)
	}
	out := make([]*Statement, len(list))
	for i, st := range list {
		out[i] = &Statement{st}
	}
	return out, nil
}

// Run runs a statement with values for its parameters: see Query.
func (s *Session) Run(ctx context.Context, st *Statement, args ...any) (*Result, error) {
	vals, err := values(args)
	if err != nil {
		return nil, export(err)
	}
	if len(vals) > st.Params() {
		return nil, export(tooMany(len(vals), st.Params()))
	}
	return s.run(ctx, st, vals)
}

func (s *Session) run(ctx context.Context, st *Statement, vals []types.Value) (*Result, error) {
	if s.db.closed.Load() {
		return nil, export(errClosed())
	}
	res, err := s.inner.Run(ctx, st.inner, vals...)
	if err != nil {
		err = exportFor(ctx, err)
		s.db.config.logBug(ctx, err, st.Text())
		return nil, err
	}
	return newResult(res), nil
}

// Query runs the statements of a text and returns the last one's result, which must be closed.
//
// Parameters are written $1, $2 and so on. Their values may be nil (NULL), bool, any integer or
// float, string, []byte, time.Time, a pointer to one of these (nil is NULL), a type made from one
// of these, or a driver.Valuer. A string takes the type that its place asks for, like a quoted literal, so that
// decimals and dates may be given as strings: "12.50", "1998-09-02". A time.Time is a TIMESTAMP, as
// its own clock shows it.
func (s *Session) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	stmts, err := statements(s.inner.Parse(ctx, text))
	if err != nil {
		return nil, err
	}
	vals, err := values(args)
	if err != nil {
		return nil, export(err)
	}
	params := 0
	for _, st := range stmts {
		params = max(params, st.Params())
	}
	if len(vals) > params {
		return nil, export(tooMany(len(vals), params))
	}
	res := newResult(&session.Result{})
	for _, st := range stmts {
		res.Close()
		if res, err = s.run(ctx, st, vals); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// Exec runs the statements of a text for their effect and returns the last one's tag.
func (s *Session) Exec(ctx context.Context, text string, args ...any) (Tag, error) {
	res, err := s.Query(ctx, text, args...)
	if err != nil {
		return "", err
	}
	defer res.Close()
	return res.Tag(), nil
}

// QueryRow runs a query of which one row is wanted. Errors wait for the row's Scan.
func (s *Session) QueryRow(ctx context.Context, text string, args ...any) *Row {
	res, err := s.Query(ctx, text, args...)
	return &Row{res, err}
}

// Tag says what a statement did, in PostgreSQL's words: "SELECT 3", "INSERT 0 3", "CREATE TABLE".
type Tag string

// Rows is the number of rows that the statement returned, inserted, updated or deleted.
func (t Tag) Rows() int64 {
	n, err := strconv.ParseInt(string(t[strings.LastIndexByte(string(t), ' ')+1:]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func tooMany(given, wanted int) error {
	return diag.Errorf(diag.ProtocolViolation, diag.NoPos, "%d values were given for %d parameters", given, wanted)
}
