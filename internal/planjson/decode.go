package planjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// MarshalJSON writes a column as a string.
func (o operand) MarshalJSON() ([]byte, error) {
	if o.Column != "" {
		return encode(o.Column)
	}
	type plain operand
	return encode(plain(o))
}

// mistake is an error in a document. Reading one panics with it.
type mistake struct{ *diag.Error }

// fail ends reading: what is at the path is wrong.
func fail(path, format string, args ...any) {
	panic(mistake{diag.Errorf(diag.InvalidParameter, diag.NoPos, "plan, at %s: %s", path, fmt.Sprintf(format, args...))})
}

// maxDepth bounds how deep documents nest.
const maxDepth = 1000

// decode reads the text into a document, strictly: fields that are not known and values of another kind are mistakes.
// (encoding/json would not say where.)
func decode(text []byte) *document {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("something follows the document")
		}
	}
	if err != nil {
		at := d.InputOffset()
		if s, ok := err.(*json.SyntaxError); ok {
			at = s.Offset
		} else if err == io.ErrUnexpectedEOF || err == io.EOF {
			at = int64(len(text))
		}
		before := text[:max(min(int(at), len(text))-1, 0)]
		line := bytes.Count(before, []byte("\n")) + 1
		panic(mistake{diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "plan, line %d, column %d: %v", line,
			len(before)-bytes.LastIndexByte(before, '\n'), strings.TrimPrefix(err.Error(), "json: "))})
	}
	var out document
	into(reflect.ValueOf(&out).Elem(), v, "$", 0)
	return &out
}

var operandType = reflect.TypeFor[operand]()

// into stores a JSON value.
func into(dst reflect.Value, v any, path string, depth int) {
	if depth > maxDepth {
		fail(path, "more than %d levels", maxDepth)
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		into(dst.Elem(), v, path, depth+1)
	case reflect.Struct:
		if s, ok := v.(string); ok && dst.Type() == operandType {
			if s == "" {
				fail(path, "a column without a name")
			}
			dst.Addr().Interface().(*operand).Column = s
			return
		}
		object, ok := v.(map[string]any)
		if !ok {
			fail(path, "%s where an object is expected", kindOf(v))
		}
		structInto(dst, object, path, depth)
	case reflect.Map:
		object, ok := v.(map[string]any)
		if !ok {
			fail(path, "%s where an object is expected", kindOf(v))
		}
		dst.Set(reflect.MakeMap(dst.Type()))
		for name, x := range object {
			e := reflect.New(dst.Type().Elem()).Elem()
			into(e, x, path+"."+name, depth+1)
			dst.SetMapIndex(reflect.ValueOf(name), e)
		}
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			fail(path, "%s where a list is expected", kindOf(v))
		}
		dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
		for i, x := range list {
			into(dst.Index(i), x, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			fail(path, "%s where a string is expected", kindOf(v))
		}
		dst.SetString(s)
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			fail(path, "%s where true or false is expected", kindOf(v))
		}
		dst.SetBool(b)
	default: // an integer
		n, ok := v.(json.Number)
		if !ok {
			fail(path, "%s where a number is expected", kindOf(v))
		}
		i, err := strconv.ParseInt(n.String(), 10, 64)
		if err != nil || dst.OverflowInt(i) || dst.Kind() == reflect.Int && (i > math.MaxInt32 || i < math.MinInt32) {
			fail(path, "%s is not an integer, or too large", n)
		}
		dst.SetInt(i)
	}
}

func structInto(dst reflect.Value, object map[string]any, path string, depth int) {
	known := map[string]int{}
	for i := range dst.NumField() {
		name, _, _ := strings.Cut(dst.Type().Field(i).Tag.Get("json"), ",")
		if name != "-" {
			known[name] = i
		}
	}
	for name, x := range object {
		i, ok := known[name]
		if !ok {
			fail(path+"."+name, "there is no such field")
		}
		into(dst.Field(i), x, path+"."+name, depth+1)
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}
