package parse

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// dump prints a tree for tests: Type{Field:value ...} without positions, without zero
// fields. With deep, expressions and queries are printed as nodes and not as SQL.
func dump(v any, deep bool) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v), deep)
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, deep bool) {
	if !v.IsValid() {
		b.WriteString("nil")
		return
	}
	switch x := v.Interface().(type) {
	case ast.Ident:
		b.WriteString(ast.QuoteIdent(x.Name))
		return
	case ast.Name:
		b.WriteString(x.String())
		return
	}
	if !deep {
		switch x := v.Interface().(type) {
		case *ast.Query:
			fmt.Fprintf(b, "<%s>", ast.FormatQuery(x))
			return
		case ast.Expr:
			fmt.Fprintf(b, "<%s>", ast.Format(x))
			return
		case ast.TypeName:
			b.WriteString(x.String())
			return
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		dumpValue(b, v.Elem(), deep)
	case reflect.Struct:
		b.WriteString(v.Type().Name())
		b.WriteByte('{')
		sep := ""
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if strings.HasSuffix(name, "Pos") || name == "End" || v.Field(i).IsZero() {
				continue
			}
			b.WriteString(sep + name + ":")
			dumpValue(b, v.Field(i), deep)
			sep = " "
		}
		b.WriteByte('}')
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(' ')
			}
			dumpValue(b, v.Index(i), deep)
		}
		b.WriteByte(']')
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	default:
		fmt.Fprint(b, v.Interface())
	}
}
