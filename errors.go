package kelpie

import (
	"context"
	"database/sql"
	"errors"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// ErrNoRows is what QueryRow's Scan reports when there is no row. It is database/sql's.
var ErrNoRows = sql.ErrNoRows

// Error is what went wrong with a statement.
type Error struct {
	Code     string // SQLSTATE as in PostgreSQL: 42703 is an unknown column, XX000 a bug of ours
	Message  string
	Detail   string // optional: the facts
	Hint     string // optional: advice
	Position int    // byte offset in the text that was given, or -1

	cause error
}

// Error is the message and the code; Format tells more.
func (e *Error) Error() string {
	if e.Code == "" || e.internal() != nil {
		return e.Message
	}
	return e.Message + " (" + e.Code + ")"
}

// Unwrap returns what led to the error, if anything did: context.Canceled, a file error.
func (e *Error) Unwrap() error { return e.cause }

// Format prints the error for the person who wrote query:
//
//	ERROR: column "l_shipdat" does not exist (42703)
//	LINE 3: where l_shipdat < date '1998-09-02'
//	              ^
//	HINT: did you mean "l_shipdate" (lineitem)?
//
// There is no newline at the end.
func (e *Error) Format(query string) string {
	if bug := e.internal(); bug != nil {
		return diag.Format(bug, query)
	}
	return diag.Format(&diag.Error{Code: e.Code, Msg: e.Message, Detail: e.Detail, Hint: e.Hint, Pos: e.Position}, query)
}

// Stack is where a bug of ours showed; nil for other errors.
func (e *Error) Stack() []byte {
	if bug := e.internal(); bug != nil {
		return bug.Stack
	}
	return nil
}

func (e *Error) internal() *diag.Internal {
	var bug *diag.Internal
	errors.As(e.cause, &bug)
	return bug
}

// export turns an error of the engine into one for users. Every error of a statement is an *Error.
func export(err error) error {
	if err == nil {
		return nil
	}
	var done *Error
	var user *diag.Error
	var bug *diag.Internal
	var value *types.Error
	switch {
	case errors.As(err, &done):
		return err
	case errors.As(err, &bug):
		return &Error{Code: diag.InternalError, Message: bug.Error(), Position: diag.NoPos, cause: err}
	case errors.As(err, &user):
		return &Error{user.Code, user.Msg, user.Detail, user.Hint, user.Pos, user.Unwrap()}
	case errors.As(err, &value):
		return &Error{value.Code, value.Msg, value.Detail, "", diag.NoPos, nil}
	}
	return &Error{Code: diag.InternalError, Message: err.Error(), Position: diag.NoPos, cause: err}
}

// exportFor also keeps why the context ended, so that errors.Is(err, context.Canceled) holds.
func exportFor(ctx context.Context, err error) error {
	err = export(err)
	var e *Error
	if errors.As(err, &e) && e.Code == diag.QueryCanceled && e.cause == nil && ctx.Err() != nil {
		e.cause = ctx.Err()
	}
	return err
}
