package kelpie

import (
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Next goes to the next row and reports whether there is one; see Err if not.
func (r *Result) Next() bool {
	if r.batch != nil && r.row+1 < int(r.batch.NumRows()) {
		r.row++
		return true
	}
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
	if r.err == nil {
		r.inner.TextIntervals() // which is how they are delivered
		r.batch, r.err = r.next()
		r.row = 0
	}
	return r.batch != nil
}

// Err is the error that ended Next, if one did.
func (r *Result) Err() error { return r.err }

// Scan copies the row that Next went to into Go variables: one pointer per column, nil to leave a
// column out. Besides pointers to bool, integers, floats, string, []byte and time.Time it takes a
// **T, which becomes nil for NULL, a sql.Scanner such as sql.Null[T], and a *any.
//
// Into an any come int64, float64, bool, string, time.Time and nil; decimals come as string, with all
// their digits, and so do infinite dates. Any value can be scanned into a string. A number that does not fit its variable is
// an error, never cut.
func (r *Result) Scan(dest ...any) error {
	if r.batch == nil {
		return scanError("Scan needs a row: call Next first")
	}
	if len(dest) != len(r.columns) {
		return scanError("Scan was given %d variables for %d columns", len(dest), len(r.columns))
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		if err := assign(d, session.Cell(r.batch.Column(i), r.row)); err != nil {
			return scanError("column %q: %w", r.columns[i].Name, err)
		}
	}
	return nil
}

// Values are the row that Next went to, as Scan delivers values into an any.
func (r *Result) Values() []any {
	if r.batch == nil {
		return nil
	}
	out := make([]any, len(r.columns))
	for i := range out {
		out[i] = plain(session.Cell(r.batch.Column(i), r.row))
	}
	return out
}

// Row is the result of QueryRow.
type Row struct {
	res *Result
	err error
}

// Scan copies the first row into Go variables, as Result.Scan does. Without a row it is ErrNoRows.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.res.Close()
	if !r.res.Next() {
		if err := r.res.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	return r.res.Scan(dest...)
}

func scanError(format string, args ...any) error {
	return export(diag.Errorf(diag.DatatypeMismatch, diag.NoPos, format, args...))
}

// plain is the Go value of a SQL value.
func plain(v types.Value) any {
	switch {
	case v.Null:
		return nil
	case v.Type.Kind == types.Bool:
		return v.I != 0
	case v.Type.IsInteger():
		return v.I
	case v.Type.IsFloat():
		return v.F
	case v.IsInfinite(): // which no time.Time is
		return v.String()
	case v.Type.Kind == types.Date:
		return time.Unix(v.I*86400, 0).UTC()
	case v.Type.Kind == types.Timestamp, v.Type.Kind == types.TimestampTZ:
		return time.UnixMicro(v.I).UTC()
	}
	return v.String() // text, decimals, intervals
}

// assign stores v in *dest.
func assign(dest any, v types.Value) error {
	switch d := dest.(type) {
	case *any:
		*d = plain(v)
		return nil
	case sql.Scanner:
		return d.Scan(plain(v))
	case *[]byte:
		*d = nil
		if !v.Null {
			*d = v.AppendText([]byte{})
		}
		return nil
	case *time.Time:
		if t, ok := plain(v).(time.Time); ok {
			*d = t
			return nil
		}
		return mismatch(dest, v)
	}
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("cannot scan into a %T: it is no pointer", dest)
	}
	e := p.Elem()
	if e.Kind() == reflect.Pointer {
		if v.Null {
			e.SetZero()
			return nil
		}
		e.Set(reflect.New(e.Type().Elem()))
		return assign(e.Interface(), v)
	}
	if v.Null {
		return mismatch(dest, v)
	}
	return assignKind(e, v)
}

// assignKind stores a value that is not NULL in a variable of a basic kind.
func assignKind(e reflect.Value, v types.Value) error {
	switch e.Kind() {
	case reflect.String:
		e.SetString(v.String())
		return nil
	case reflect.Bool:
		if v.Type.Kind == types.Bool {
			e.SetBool(v.I != 0)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if x, ok := integer(v); ok {
			if e.OverflowInt(x) {
				return fmt.Errorf("%d does not fit in a %s", x, e.Type())
			}
			e.SetInt(x)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if x, ok := integer(v); ok {
			if x < 0 || e.OverflowUint(uint64(x)) {
				return fmt.Errorf("%d does not fit in a %s", x, e.Type())
			}
			e.SetUint(uint64(x))
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if x, ok := float(v); ok {
			if e.OverflowFloat(x) {
				return fmt.Errorf("%g does not fit in a %s", x, e.Type())
			}
			e.SetFloat(x)
			return nil
		}
	}
	return mismatch(e.Addr().Interface(), v)
}

// integer is the value of an integer, or of a decimal that has no fraction.
func integer(v types.Value) (int64, bool) {
	switch {
	case v.Type.IsInteger():
		return v.I, true
	case v.Type.Kind == types.Decimal:
		whole, err := types.Cast(v, types.TInt64)
		if err != nil {
			return 0, false
		}
		back, err := types.Cast(whole, v.Type)
		return whole.I, err == nil && back.Int128() == v.Int128()
	}
	return 0, false
}

// float is the nearest float64 of a number.
func float(v types.Value) (float64, bool) {
	switch {
	case v.Type.IsFloat():
		return v.F, true
	case v.Type.IsInteger():
		return float64(v.I), true
	case v.Type.Kind == types.Decimal:
		f, err := strconv.ParseFloat(v.String(), 64)
		return f, err == nil || math.IsInf(f, 0)
	}
	return 0, false
}

func mismatch(dest any, v types.Value) error {
	if v.Null {
		return fmt.Errorf("cannot scan NULL into a %T: a pointer to it or a sql.Null takes NULL", dest)
	}
	return fmt.Errorf("cannot scan %s %s into a %T", v.Type, v, dest)
}
