package types

import (
	"encoding/json"
	"slices"
	"strings"
)

// JSON is a value of JSON, taken apart. JSON and JSONB are stored as texts: JSON as it was written, JSONB in one spelling.
type JSONValue struct {
	Kind  byte   // one of {["0tn: object, array, string, number, truth value, null
	Raw   string // as it was written
	Keys  []string
	Elems []JSONValue
}

// maxJSONDepth is how deep values may be nested.
const maxJSONDepth = 6400

// ParseJSON takes a text of JSON apart.
func ParseJSON(text string) (JSONValue, error) {
	if !json.Valid([]byte(text)) {
		return JSONValue{}, syntaxError(TJSON, text)
	}
	p := &jsonParser{s: text}
	v, ok := p.value(0)
	if !ok {
		return v, errf("54001", "JSON is nested too deeply")
	}
	return v, nil
}

// jsonParser reads what is known to be JSON.
type jsonParser struct {
	s  string
	at int
}

func (p *jsonParser) blanks() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonParser) value(depth int) (v JSONValue, ok bool) {
	p.blanks()
	start := p.at
	switch c := p.s[p.at]; c {
	case '{', '[':
		if depth > maxJSONDepth {
			return v, false
		}
		v.Kind = c
		p.at++
		for p.blanks(); p.s[p.at] != '}' && p.s[p.at] != ']'; p.blanks() {
			if p.s[p.at] == ',' {
				p.at++
				p.blanks()
			}
			if c == '{' {
				v.Keys = append(v.Keys, unescape(p.string()))
				p.blanks()
				p.at++ // the colon
			}
			e, ok := p.value(depth + 1)
			if !ok {
				return v, false
			}
			v.Elems = append(v.Elems, e)
		}
		p.at++
	case '"':
		v.Kind = c
		p.string()
	default:
		for p.at < len(p.s) && strings.IndexByte(",]} \t\r\n", p.s[p.at]) < 0 {
			p.at++
		}
		switch c {
		case 't', 'f':
			v.Kind = 't'
		case 'n':
			v.Kind = 'n'
		default:
			v.Kind = '0'
		}
	}
	v.Raw = p.s[start:p.at]
	return v, true
}

// string reads a string with its quotes.
func (p *jsonParser) string() string {
	start := p.at
	for p.at++; p.s[p.at] != '"'; p.at++ {
		if p.s[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return p.s[start:p.at]
}

func unescape(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(quoted), &s) // is valid
	return s
}

// Text is the value as ->> gives it: strings without quotes.
func (v JSONValue) Text() string {
	if v.Kind == '"' {
		return unescape(v.Raw)
	}
	return v.Raw
}

// Field is the value of a key, the last one if it occurs several times.
func (v JSONValue) Field(key string) (JSONValue, bool) {
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if v.Keys[i] == key {
			return v.Elems[i], true
		}
	}
	return JSONValue{}, false
}

// Index is an element of an array, from 0, or from the end if i is negative.
func (v JSONValue) Index(i int64) (JSONValue, bool) {
	if i < 0 {
		i += int64(len(v.Elems))
	}
	if v.Kind != '[' || i < 0 || i >= int64(len(v.Elems)) {
		return JSONValue{}, false
	}
	return v.Elems[i], true
}

// TypeName is what json_typeof says.
func (v JSONValue) TypeName() string {
	return map[byte]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'n': "null"}[v.Kind]
}

// AppendJSONB appends the value in the spelling of JSONB: keys once, shorter ones first; numbers without exponents.
func (v JSONValue) AppendJSONB(dst []byte) []byte {
	switch v.Kind {
	case '{':
		last := map[string]int{}
		for i, k := range v.Keys {
			last[k] = i
		}
		keys := make([]string, 0, len(last))
		for k := range last {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(AppendJSONString(dst, k), ": "...)
			dst = v.Elems[last[k]].AppendJSONB(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.AppendJSONB(dst)
		}
		return append(dst, ']')
	case '"':
		return AppendJSONString(dst, v.Text())
	case '0':
		return append(dst, plainNumber(v.Raw)...)
	}
	return append(dst, v.Raw...)
}

// plainNumber writes a number without an exponent, unless that would be very long.
func plainNumber(s string) string {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		if strings.Trim(s, "-0.") == "" { // there is no -0
			s = strings.TrimPrefix(s, "-")
		}
		return s
	}
	exp := 0
	if neg := s[at+1] == '-'; len(strings.TrimLeft(s[at+1:], "+-")) <= 4 {
		if exp = atoi(strings.TrimLeft(s[at+1:], "+-")); neg {
			exp = -exp
		}
	} else {
		return s
	}
	sign := ""
	digits := s[:at]
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	whole, frac, _ := strings.Cut(digits, ".")
	for ; exp > 0; exp-- {
		if frac == "" {
			frac = "0"
		}
		whole, frac = whole+frac[:1], frac[1:]
	}
	for ; exp < 0; exp++ {
		if whole == "" {
			whole = "0"
		}
		whole, frac = whole[:len(whole)-1], whole[len(whole)-1:]+frac
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if frac != "" {
		whole += "." + frac
	}
	return sign + whole
}

// AppendJSONString appends a text as a string of JSON.
func AppendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			dst = append(dst, '\\', "bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}

// ToJSON appends a value as JSON: what to_json gives.
func ToJSON(dst []byte, v Value) []byte { return ToJSONIn(dst, v, UTC) }

// ToJSONIn is ToJSON where instants are shown in zone z.
func ToJSONIn(dst []byte, v Value, z *Zone) []byte {
	switch {
	case v.Null:
		return append(dst, "null"...)
	case v.Type.Kind == JSON:
		return append(dst, v.S...)
	case v.Type.Kind == Bool, v.Type.IsInteger(), v.Type.Kind == Decimal:
		return v.AppendText(dst)
	case v.Type.IsFloat():
		text := v.String()
		if isDigit(text[len(text)-1]) { // neither NaN nor Infinity
			return append(dst, text...)
		}
		return AppendJSONString(dst, text)
	case v.Type.Kind == List:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = ToJSONIn(dst, e, z)
		}
		return append(dst, ']')
	case v.Type.Kind == Struct, v.Type.Kind == Map:
		dst = append(dst, '{')
		each := func(i int, key string, x Value) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = ToJSONIn(append(AppendJSONString(dst, key), ':'), x, z)
		}
		if v.Type.Kind == Map {
			for i, e := range v.Elems() {
				pair := e.FieldValues()
				each(i, pair[0].String(), pair[1])
			}
		} else {
			for i, x := range v.FieldValues() {
				each(i, v.Type.Fields()[i].Name, x)
			}
		}
		return append(dst, '}')
	case v.Type.Kind == Timestamp:
		return AppendJSONString(dst, strings.Replace(v.String(), " ", "T", 1))
	case v.Type.Kind == TimestampTZ:
		text := strings.Replace(string(v.AppendTextIn(nil, z)), " ", "T", 1)
		bc := strings.HasSuffix(text, " BC")
		text = strings.TrimSuffix(text, " BC")
		if sign := strings.LastIndexAny(text, "+-"); !v.IsInfinite() && sign > strings.IndexByte(text, 'T') && !strings.Contains(text[sign:], ":") {
			text += ":00" // a zone of whole hours is written without minutes elsewhere
		}
		if bc {
			text += " BC"
		}
		return AppendJSONString(dst, text)
	}
	return AppendJSONString(dst, v.String())
}

// parseJSON reads a value of type JSON or JSONB.
func parseJSON(t Type, text string) (Value, error) {
	v, err := ParseJSON(text)
	if err == nil && t == TJSONB {
		if err = CheckEscapes(text); err == nil {
			text = string(v.AppendJSONB(nil))
		}
	}
	return Value{Type: t, S: text}, err
}

// jsonNested makes a list, a struct or a map of JSON.
func jsonNested(v Value, to Type) (Value, error) {
	j, err := ParseJSON(v.S)
	if err != nil {
		return Value{}, err
	}
	return FromJSON(UTC, to, j, nil)
}

// FromJSON is the value of type t that a value of JSON stands for: null is NULL, objects are structs and maps, arrays lists, and
// strings are read as texts are. Keys that a struct lacks mean nothing, and fields without a key are NULL.
// What check refuses is an error; it may be nil.
func FromJSON(z *Zone, t Type, j JSONValue, check func(Type, JSONValue) error) (Value, error) {
	if check != nil && j.Kind != 'n' {
		if err := check(t, j); err != nil {
			return Value{}, err
		}
	}
	mismatch := func() (Value, error) {
		return Value{}, errf(codeSyntax, "cannot cast %s of JSON to %s: %s", j.TypeName(), t, j.Raw)
	}
	switch {
	case j.Kind == 'n' && t.Kind != JSON:
		return NullOf(t), nil
	case t.Kind == JSON:
		return parseJSON(t, j.Raw)
	case t.Kind == List:
		if j.Kind != '[' {
			return mismatch()
		}
		elems := make([]Value, len(j.Elems))
		for i, e := range j.Elems {
			var err error
			if elems[i], err = FromJSON(z, t.Elem(), e, check); err != nil {
				return Value{}, err
			}
		}
		return ListValue(t.Elem(), elems), nil
	case t.Kind == Struct:
		if j.Kind != '{' {
			return mismatch()
		}
		vals := make([]Value, len(t.Fields()))
		for i, f := range t.Fields() {
			vals[i] = NullOf(f.Type)
			if e, ok := j.Field(f.Name); ok {
				var err error
				if vals[i], err = FromJSON(z, f.Type, e, check); err != nil {
					return Value{}, err
				}
			}
		}
		return StructValue(t, vals), nil
	case t.Kind == Map:
		if j.Kind != '{' {
			return mismatch()
		}
		kv := t.Fields()
		var keys, values []Value
		for i, k := range j.Keys {
			key, err := ParseIn(z, kv[0].Type, k)
			if err != nil {
				return Value{}, err
			}
			x, err := FromJSON(z, kv[1].Type, j.Elems[i], check)
			if err != nil {
				return Value{}, err
			}
			keys, values = append(keys, key), append(values, x)
		}
		return MapValue(t, keys, values)
	case t.Kind == Text:
		return parseText(t, j.Text())
	case j.Kind == '{', j.Kind == '[', j.Kind == '0' && !t.IsNumeric(), j.Kind == 't' && t.Kind != Bool:
		return mismatch()
	}
	return ParseIn(z, t, j.Text())
}
