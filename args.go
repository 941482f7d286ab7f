package kelpie

import (
	"database/sql/driver"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// values are the SQL values of a statement's arguments.
func values(args []any) ([]types.Value, error) {
	if len(args) == 0 {
		return nil, nil
	}
	out := make([]types.Value, len(args))
	for i, a := range args {
		v, err := value(a, i+1)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// value is the SQL value of argument n.
func value(a any, n int) (types.Value, error) {
	switch a := a.(type) {
	case nil:
		return types.NullOf(types.TUnknown), nil
	case string:
		return text(a, n)
	case []byte:
		if a == nil {
			return types.NullOf(types.TUnknown), nil
		}
		return text(string(a), n)
	case time.Time:
		return timestamp(a, n)
	case driver.Valuer:
		v := reflect.ValueOf(a)
		if v.Kind() == reflect.Pointer && v.IsNil() { // its Value method need not expect that
			return types.NullOf(types.TUnknown), nil
		}
		x, err := a.Value()
		if err != nil {
			return types.Value{}, diag.Errorf(diag.DatatypeMismatch, diag.NoPos, "parameter $%d: %w", n, err)
		}
		if _, again := x.(driver.Valuer); again {
			return types.Value{}, unusable(a, n)
		}
		return value(x, n)
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Bool:
		return types.BoolValue(v.Bool()), nil
	case reflect.Int8, reflect.Int16:
		return types.IntValue(types.TInt16, v.Int()), nil
	case reflect.Int32, reflect.Uint8:
		x := int64(0)
		if v.CanInt() {
			x = v.Int()
		} else {
			x = int64(v.Uint())
		}
		return types.IntValue(types.TInt32, x), nil
	case reflect.Int, reflect.Int64:
		return types.IntValue(types.TInt64, v.Int()), nil
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 { // beyond BIGINT
			return types.DecimalValue(types.TUInt64, types.Int128{Lo: v.Uint()}), nil
		}
		return types.IntValue(types.TInt64, int64(v.Uint())), nil
	case reflect.Float32:
		return types.FloatValue(types.TFloat32, v.Float()), nil
	case reflect.Float64:
		return types.FloatValue(types.TFloat64, v.Float()), nil
	case reflect.String:
		return text(v.String(), n)
	case reflect.Pointer:
		if v.IsNil() {
			return types.NullOf(types.TUnknown), nil
		}
		return value(v.Elem().Interface(), n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return value(v.Bytes(), n)
		}
	}
	return types.Value{}, unusable(a, n)
}

// text is a value without a type yet, as a quoted literal is: where a date is wanted it is read as
// a date.
func text(s string, n int) (types.Value, error) {
	if !utf8.ValidString(s) {
		return types.Value{}, diag.Errorf(diag.CharacterNotInRepertoire, diag.NoPos, "parameter $%d is not valid UTF-8", n)
	}
	return types.Value{Type: types.TUnknown, S: s}, nil
}

// timestamp reads the time's own clock: TIMESTAMP has no time zone.
func timestamp(t time.Time, n int) (types.Value, error) {
	wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	us := wall.UnixMicro()
	if y := wall.Year(); y < -5000 || y > 294246 || !types.TimestampInRange(us) { // far years overflow us
		return types.Value{}, diag.Errorf(diag.DatetimeOverflow, diag.NoPos, "parameter $%d: timestamp out of range", n)
	}
	return types.IntValue(types.TTimestamp, us), nil
}

func unusable(a any, n int) error {
	return diag.Errorf(diag.DatatypeMismatch, diag.NoPos, "parameter $%d: a Go value of type %T has no SQL type", n, a).
		WithHint("give a string, []byte, bool, integer, float, time.Time or nil")
}
