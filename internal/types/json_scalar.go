package types

import "strings"

// Values of SQL that scalars of JSON stand for, and the escapes in strings that no text has.

// isJSONScalar reports a type that JSON is cast to though it is no nested one. Of JSON that is DuckDB's comfort, where PostgreSQL has no such cast.
func isJSONScalar(from, to Type) bool {
	if from == TJSONB {
		return to.IsNumeric() || to.Kind == Bool
	}
	return from.Kind == JSON && (to.IsNumeric() || to.Kind == Bool || to.Kind == Date || to.Kind == Timestamp || to.Kind == Time || to.Kind == UUID)
}

// castJSONScalar converts a scalar of JSON. JSONB must have the kind that the type asks for, as in PostgreSQL; in JSON null is NULL, and strings are
// read as texts are.
func castJSONScalar(v Value, to Type) (Value, error) {
	j, err := ParseJSON(v.S)
	if err != nil {
		return Value{}, err
	}
	strict := v.Type == TJSONB
	switch {
	case j.Kind == 'n' && !strict:
		return NullOf(to), nil
	case j.Kind == '0' && to.IsNumeric():
		return castJSONNumber(j.Raw, to)
	case j.Kind == 't' && to.Kind == Bool:
		return BoolValue(j.Raw == "true"), nil
	case j.Kind == '"' && !strict:
		return ParseValue(to, j.Text())
	case !strict:
		return Value{}, errf(codeCannotCoerce, "cannot cast type json to %s: the value is of kind %s", to.SQLName(), j.TypeName())
	}
	kind := j.TypeName()
	if kind == "number" {
		kind = "numeric"
	}
	return Value{}, errf(codeBadParameter, "cannot cast jsonb %s to type %s", kind, to.SQLName())
}

// castJSONNumber converts a number by way of a decimal, where its digits fit into one: halves are rounded as those of decimals are.
func castJSONNumber(s string, to Type) (Value, error) {
	if !to.IsFloat() {
		if x, scale, fit, ok := ParseDecimal(s); ok && fit {
			return Assign(DecimalValue(TDecimal(MaxPrecision, scale), x), to)
		}
	}
	f, err := ParseValue(TFloat64, s)
	if err != nil || to.Kind == Float64 {
		return f, err
	}
	return Assign(f, to)
}

// CheckEscapes fails for a string of JSON, or for several in a text of JSON, with an escape that stands for no character of a text: that of zero, and halves of
// surrogate pairs. JSON keeps them as they are written; JSONB, and whoever wants the text, cannot.
func CheckEscapes(raw string) error {
	if !strings.Contains(raw, `\u`) {
		return nil
	}
	invalid := func(detail string) error {
		return &Error{Code: codeSyntax, Msg: "invalid input syntax for type json", Detail: detail}
	}
	high := false // the last character was the first half of a pair
	for i := 0; i < len(raw); i++ {
		unit := -1
		if raw[i] == '\\' {
			if i++; raw[i] == 'u' {
				unit = hexUnit(raw[i+1 : i+5])
				i += 4
			}
		}
		low := unit >= 0xdc00 && unit < 0xe000
		switch {
		case high && unit >= 0xd800 && unit < 0xdc00:
			return invalid("Unicode high surrogate must not follow a high surrogate.")
		case high != low:
			return invalid("Unicode low surrogate must follow a high surrogate.")
		case unit == 0:
			return &Error{Code: "22P05", Msg: "unsupported Unicode escape sequence", Detail: `\u0000 cannot be converted to text.`}
		}
		high = unit >= 0xd800 && unit < 0xdc00
	}
	return nil
}

// hexUnit is the number of four digits that are known to be hexadecimal.
func hexUnit(digits string) int {
	n := 0
	for i := range len(digits) {
		d := int(digits[i] | 0x20) // in lower case; digits stay
		if d >= 'a' {
			d -= 'a' - 10
		} else {
			d -= '0'
		}
		n = n<<4 | d
	}
	return n
}
