package file

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// jsonTarget is where the values of a key go.
type jsonTarget struct {
	name    string
	b       *column.Builder // nil: they are not wanted
	t       types.Type
	notNull bool
	missing folderValue   // where an object lacks the key
	column  types.Value   // what the table's column has there
	folder  *folderColumn // not nil: what objects of its files have instead
	row     int           // the last that had the key
}

// jsonRows reads the rows of JSON.
type jsonRows struct {
	s     *Source
	table *catalog.Table
	cols  []jsonTarget
	p     jsonParser
	row   int // begins with 1, so that no target has seen it
	order int // the column whose key is expected next
}

func newJSONRows(s *Source, table *catalog.Table, sb *catalog.SegmentBuilder, opts LoadOptions) *jsonRows {
	r := &jsonRows{s: s, table: table}
	for i, c := range opts.Columns {
		if s.inFolders(i) {
			continue // these are the last
		}
		t := jsonTarget{name: s.cols[i].Name}
		if c >= 0 {
			def := &table.Columns[c]
			t.b, t.t, t.notNull = sb.Cols[c], def.Type, def.NotNull
			t.column = types.NullOf(def.Type)
			if opts.Defaults != nil {
				t.column = opts.Defaults[c]
			}
			t.missing.v = t.column
		}
		r.cols = append(r.cols, t)
	}
	for i := range s.folders {
		if f := &s.folders[i]; f.fallback {
			r.cols[f.col].folder = f
		}
	}
	return r
}

func (r *jsonRows) piece(ctx context.Context, buf []byte, pc *piece) (rows int, err error) {
	for c := range r.cols {
		if t := &r.cols[c]; t.folder != nil && t.b != nil {
			t.missing = folderValue{v: t.column}
			if v, ok := t.folder.values[pc.file]; ok {
				t.missing = v
			}
		}
	}
	for i, at := range pc.objects {
		if i%cancelRows == 0 && ctx.Err() != nil {
			return 0, diag.Canceled(ctx)
		}
		r.row++
		r.order = 0
		var name string
		err := r.p.object(buf[at[0]:at[1]], func(key []byte, v jsonValue) error {
			t := r.target(key)
			if t == nil && r.s.reading.Named {
				return nil // somebody has listed the keys that count
			}
			if t == nil {
				return r.unknown(string(key))
			}
			if t.row == r.row {
				return duplicateKey(t.name)
			}
			t.row = r.row
			if t.b == nil {
				return nil
			}
			name = t.name
			return r.store(t, v)
		})
		if err != nil {
			return 0, pc.locate(buf, i, &r.p, name, err)
		}
		for c := range r.cols {
			t := &r.cols[c]
			if t.row == r.row || t.b == nil {
				continue
			}
			if t.missing.err != nil {
				return 0, t.missing.err
			}
			if t.missing.v.Null && t.notNull {
				r.p.p = 0
				return 0, pc.locate(buf, i, &r.p, t.name, r.nullError(t))
			}
			t.b.Append(t.missing.v)
		}
	}
	return len(pc.objects), nil
}

// target finds the column of a key; nil if there is none. Keys usually come in the same order.
func (r *jsonRows) target(key []byte) *jsonTarget {
	if r.order < len(r.cols) && r.cols[r.order].name == string(key) {
		r.order++
		return &r.cols[r.order-1]
	}
	c, ok := r.s.json.index[string(key)]
	if !ok && r.s.json.fold {
		for i := range r.cols {
			if strings.EqualFold(r.cols[i].name, string(key)) {
				c, ok = i, true
				break
			}
		}
	}
	if !ok {
		return nil
	}
	r.order = c + 1
	return &r.cols[c]
}

func (r *jsonRows) unknown(key string) error {
	if r.s.guessed {
		return diag.Errorf(diag.UndefinedColumn, diag.NoPos, "key %q does not appear in the first rows of the file, which the columns are taken from", key).
			WithHint("create a table with all columns and COPY into it")
	}
	var names []string
	for i := range r.cols {
		names = append(names, r.cols[i].name)
	}
	return diag.Errorf(diag.UndefinedColumn, diag.NoPos, "key %q of the file is not a column of relation %q", key, r.table.Name).
		WithHint(diag.DidYouMean(key, names))
}

func (r *jsonRows) nullError(t *jsonTarget) error {
	return diag.Errorf(diag.NotNullViolation, diag.NoPos, "null value in column %q of relation %q violates not-null constraint", t.name, r.table.Name)
}

// store appends a value.
func (r *jsonRows) store(t *jsonTarget, v jsonValue) error {
	switch {
	case v.kind == jsonNull:
		if t.notNull {
			return r.nullError(t)
		}
		t.b.AppendNull()
		return nil
	case t.t.Kind == types.Text && t.t.Len == 0:
		t.b.AppendBytes(v.text)
		return nil
	case t.t.Kind == types.Text:
		return r.parse(t, v.text)
	case t.t.Kind == types.JSON && v.kind != jsonString:
		return r.parse(t, v.text)
	case t.t.IsNested() && v.kind == jsonNested:
		j, err := types.ParseJSON(string(v.text))
		var x types.Value
		if err == nil {
			var check func(types.Type, types.JSONValue) error
			if r.s.guessed {
				check = fitsGuess
			}
			x, err = types.FromJSON(r.s.zone, t.t, j, check)
		}
		if e, ok := err.(*types.Error); ok {
			d := diag.Errorf(e.Code, diag.NoPos, "%s", e.Msg)
			if r.s.guessed {
				return r.guessedError(d, t)
			}
			return d
		}
		t.b.Append(x)
		return nil
	case v.kind == jsonNested, v.kind == jsonBool && t.t.Kind != types.Bool, v.kind == jsonNumber && !t.t.IsNumeric(),
		v.kind == jsonString && r.s.guessed && notString(t.t, v.text):
		return r.guessedError(diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "there is %s where %s should be", v.kind, t.t), t)
	case v.kind == jsonNumber && t.t.IsInteger():
		return r.integer(t, v.text)
	case r.s.guessed && !keeps(t.t, v):
		return r.guessedError(diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "%s would change as %s: %q", v.kind, t.t, v.text), t)
	}
	return r.parse(t, v.text)
}

// fitsGuess refuses a part of a nested value that the type which was guessed would lose or change.
func fitsGuess(t types.Type, j types.JSONValue) error {
	if t.Kind == types.Struct {
		for _, k := range j.Keys {
			if t.FindField(k) < 0 {
				return &types.Error{Code: diag.InvalidTextRepresentation, Msg: fmt.Sprintf("there is a key %q that %s has not", k, t)}
			}
		}
		return nil
	}
	v := partValue(j)
	number := v.kind == jsonNumber && (t.IsFloat() || t.Kind == types.Decimal)
	if v.kind == jsonString && notString(t, v.text) || (number || v.kind == jsonString) && !keeps(t, v) {
		return &types.Error{Code: diag.InvalidTextRepresentation, Msg: fmt.Sprintf("%s would change as %s: %q", v.kind, t, v.text)}
	}
	return nil
}

// keeps reports that a guessed type has the value as it is in the file.
func keeps(t types.Type, v jsonValue) bool {
	switch {
	case v.kind == jsonNumber:
		m := measure(v.text)
		if t.Kind == types.Decimal {
			return !m.exponent && m.after <= int(t.Scale)
		}
		return m.asDouble(v.text)
	case v.kind != jsonString:
		return true
	case t.Kind == types.Date:
		return dateShape(unsafeString(v.text)) && v.text[4] == '-'
	case t.Kind == types.Timestamp:
		c := classOf(unsafeString(v.text))
		return c == looksDate && v.text[4] == '-' || c == looksTimestamp && exactTimestamp(v.text)
	}
	return true
}

// notString reports a string in a column that was guessed to be of another kind. NaN and Infinity are
// strings, because JSON has no numbers for them.
func notString(t types.Type, text []byte) bool {
	if t.Kind == types.Float64 {
		return len(text) == 0 || isDigit(text[len(text)-1])
	}
	return t.Kind == types.Bool || t.IsNumeric()
}

// integer appends a number to a column of integers. JSON has one kind of number: 1.0 is 1.
func (r *jsonRows) integer(t *jsonTarget, text []byte) error {
	if x, err := strconv.ParseInt(unsafeString(text), 10, 64); err == nil {
		lo, hi := typeBounds(t.t)
		if x >= int64(lo.Lo) && x <= int64(hi.Lo) {
			t.b.AppendInt(x)
			return nil
		}
	} else if m := measure(text); m.fraction || m.exponent {
		x, err := strconv.ParseFloat(unsafeString(text), 64)
		const exact = 1 << 53
		if err == nil && x == math.Trunc(x) && math.Abs(x) <= exact && m.significant <= 15 {
			return r.parse(t, strconv.AppendInt(nil, int64(x), 10))
		}
	}
	return r.parse(t, text)
}

// parse leaves a value to package types.
func (r *jsonRows) parse(t *jsonTarget, text []byte) error {
	// The text lives as long as the value is looked at; a Text value is copied by Append.
	v, err := types.ParseIn(r.s.zone, t.t, unsafeString(text))
	if err != nil {
		if e, ok := err.(*types.Error); ok {
			err = diag.Errorf(e.Code, diag.NoPos, "%s", e.Msg).WithDetail("%s", e.Detail)
		}
		return r.guessedError(err, t)
	}
	t.b.Append(v)
	return nil
}

// guessedError adds what to do about a type that was guessed.
func (r *jsonRows) guessedError(err error, t *jsonTarget) error {
	if e, ok := err.(*diag.Error); ok && r.s.guessed {
		return e.WithHint("the type %s was guessed from the first rows of the file; to say another, create a table and COPY into it", t.t)
	}
	return err
}

func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
