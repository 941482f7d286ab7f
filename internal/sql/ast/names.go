package ast

// UnnamedColumn is PostgreSQL's name for a column whose expression suggests none.
const UnnamedColumn = "?column?"

// ColumnName is the name that PostgreSQL gives the output column of an expression
// without an alias: the column's or function's name, "case", "?column?", and so on.
func ColumnName(e Expr) string {
	if name, _ := columnName(e); name != "" {
		return name
	}
	return UnnamedColumn
}

// columnName also says how good the name is, as PostgreSQL's FigureColname does: a
// weak name (of a cast's type, of CASE) gives way to a strong one inside.
func columnName(e Expr) (name string, strong bool) {
	switch e := e.(type) {
	case *ColumnRef:
		return e.Name.Last(), true
	case *Func:
		return e.Name.Last(), true
	case *Field:
		return e.Name.Name, true
	case *Subscript:
		return columnName(e.X)
	case *Collate:
		return columnName(e.X)
	case *Extract:
		return "extract", true
	case *AtTimeZone:
		return "timezone", true
	case *Exists:
		return "exists", true
	case *Array, *ArrayQuery:
		return "array", true
	case *Row:
		return "row", true
	case *Subquery:
		if name := firstColumn(e.Query.Body); name != "" {
			return name, true
		}
	case *Cast:
		if name, strong := columnName(e.X); strong {
			return name, true
		}
		return e.Type.Internal(), false
	case *TypedLiteral:
		return e.Type.Internal(), false
	case *Interval:
		return "interval", false
	case *Literal:
		if e.Kind == LitBool {
			return "bool", false
		}
	case *Case:
		if e.Else != nil {
			if name, strong := columnName(e.Else); strong {
				return name, true
			}
		}
		return "case", false
	}
	return "", false
}

// firstColumn is the name of a query's first output column, or "".
func firstColumn(b Body) string {
	for {
		switch q := b.(type) {
		case *Query:
			b = q.Body
		case *SetOp:
			b = q.L
		case *Values:
			return "column1"
		case *Select:
			if len(q.Items) == 0 {
				return ""
			}
			it := q.Items[0]
			if _, star := it.X.(*Star); star {
				return ""
			}
			if !it.Alias.Empty() {
				return it.Alias.Name
			}
			return ColumnName(it.X)
		default:
			return ""
		}
	}
}

// Internal is the type's name in PostgreSQL's catalog, which is what names columns:
// int4 for integer, float8 for double precision. Unknown names stay as they are.
func (t TypeName) Internal() string {
	if name, ok := internalNames[t.Name]; ok {
		return name
	}
	return t.Name
}

var internalNames = map[string]string{
	"int": "int4", "integer": "int4", "smallint": "int2", "bigint": "int8",
	"real": "float4", "float": "float8", "double precision": "float8",
	"decimal": "numeric", "dec": "numeric", "boolean": "bool", "char": "bpchar",
}
