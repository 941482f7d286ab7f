package types

import "strings"

// Texts of structs and maps: {'a': 1, 'b': x y} and {k=1}, as DuckDB writes them, with lists inside of them as [1, 2]. What
// ROW(…) made is (1,x), as PostgreSQL writes it, unless something with names is in it.

// appendNamed appends a value as DuckDB does.
func appendNamed(dst []byte, v Value, z *Zone) []byte {
	if v.Null {
		return append(dst, "NULL"...)
	}
	comma := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	switch v.Type.Kind {
	case List:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			comma(i)
			dst = appendNamed(dst, e, z)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for i, e := range v.Elems() {
			comma(i)
			pair := e.FieldValues()
			dst = append(appendNamed(dst, pair[0], z), '=')
			dst = appendNamed(dst, pair[1], z)
		}
		return append(dst, '}')
	case Struct:
		if v.Type.IsRow() {
			dst = append(dst, '(')
			for i, e := range v.FieldValues() {
				comma(i)
				dst = appendNamed(dst, e, z)
			}
			return append(dst, ')')
		}
		dst = append(dst, '{')
		vals := v.FieldValues()
		for i, f := range v.Type.Fields() {
			comma(i)
			dst = append(appendQuoted(dst, f.Name), ": "...)
			dst = appendNamed(dst, vals[i], z)
		}
		return append(dst, '}')
	}
	text := string(v.AppendTextIn(nil, z))
	if needsQuotes(text) {
		return appendQuoted(dst, text)
	}
	return append(dst, text...)
}

// needsQuotes reports a text that would not be read back as it is.
func needsQuotes(s string) bool {
	return s == "" || strings.EqualFold(s, "null") || s[0] == ' ' || s[len(s)-1] == ' ' || strings.ContainsAny(s, "{}[](),:='\"\n\t\r")
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := range len(s) {
		if s[i] == '\'' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '\'')
}

// appendRow appends what ROW(…) made, as PostgreSQL does: NULL is nothing.
func appendRow(dst []byte, v Value, z *Zone) []byte {
	dst = append(dst, '(')
	for i, e := range v.FieldValues() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !e.Null {
			dst = appendRowField(dst, elemText(e, z))
		}
	}
	return append(dst, ')')
}

func appendRowField(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "(),\"\\ \t\n\r\v\f") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, s[i])
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// parseNested reads a struct, a map, or a list with one of them in it.
func parseNested(z *Zone, t Type, text string) (Value, error) {
	p := &nestedParser{z: z, s: text, text: text, whole: t}
	v, err := p.value(t, valueEnds)
	if err != nil {
		return Value{}, err
	}
	if p.blanks(); p.s != "" {
		return Value{}, p.malformed()
	}
	return v, nil
}

type nestedParser struct {
	z       *Zone
	s, text string
	whole   Type
}

func (p *nestedParser) blanks() { p.s = strings.TrimLeft(p.s, " \t\n\r\v\f") }

func (p *nestedParser) malformed() error { return syntaxError(p.whole, p.text) }

// take reads a character after blanks, if it is there.
func (p *nestedParser) take(c byte) bool {
	if p.blanks(); p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

// list reads what is between two brackets; item reads one.
func (p *nestedParser) list(open, end byte, item func() error) error {
	if !p.take(open) {
		return p.malformed()
	}
	if p.take(end) {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch {
		case p.take(','):
		case p.take(end):
			return nil
		default:
			return p.malformed()
		}
	}
}

func (p *nestedParser) value(t Type, ends string) (Value, error) {
	p.blanks()
	if len(p.s) >= 4 && strings.EqualFold(p.s[:4], "null") && (len(p.s) == 4 || strings.IndexByte(",]}): =\t\n", p.s[4]) >= 0) {
		p.s = p.s[4:]
		return NullOf(t), nil
	}
	switch t.Kind {
	case List:
		if strings.HasPrefix(p.s, "{}") { // how an empty one is written in a query
			p.s = p.s[2:]
			return ListValue(t.Elem(), nil), nil
		}
		if strings.HasPrefix(p.s, "{") && !t.Elem().hasNames() { // as PostgreSQL writes arrays
			inner := &listParser{z: p.z, s: p.s, text: p.text}
			v, err := inner.list(t)
			p.s = inner.s
			return v, err
		}
		var elems []Value
		err := p.list('[', ']', func() error {
			v, err := p.value(t.Elem(), valueEnds)
			elems = append(elems, v)
			return err
		})
		if err != nil {
			return Value{}, err
		}
		return ListValue(t.Elem(), elems), nil
	case Map:
		return p.pairs(t)
	case Struct:
		if strings.HasPrefix(p.s, "(") {
			return p.row(t)
		}
		return p.structure(t)
	}
	word, err := p.word(ends)
	if err != nil {
		return Value{}, err
	}
	return ParseIn(p.z, t, word)
}

func (p *nestedParser) pairs(t Type) (Value, error) {
	kv := t.Fields()
	var keys, values []Value
	err := p.list('{', '}', func() error {
		k, err := p.value(kv[0].Type, keyEnds)
		if err != nil {
			return err
		}
		if !p.take('=') && !p.take(':') {
			return p.malformed()
		}
		v, err := p.value(kv[1].Type, valueEnds)
		keys, values = append(keys, k), append(values, v)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return MapValue(t, keys, values)
}

func (p *nestedParser) structure(t Type) (Value, error) {
	fields := t.Fields()
	vals := make([]Value, len(fields))
	for i, f := range fields {
		vals[i] = NullOf(f.Type)
	}
	err := p.list('{', '}', func() error {
		name, err := p.word(nameEnds)
		if err != nil {
			return err
		}
		i := t.FindField(name)
		if i < 0 || !p.take(':') {
			return p.malformed()
		}
		vals[i], err = p.value(fields[i].Type, valueEnds)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return StructValue(t, vals), nil
}

// row reads (1,x,"a b",), where nothing is NULL.
func (p *nestedParser) row(t Type) (Value, error) {
	p.s = p.s[1:]
	fields := t.Fields()
	vals := make([]Value, len(fields))
	for i, f := range fields {
		var b []byte
		some, inside := false, false
		for ; p.s != "" && (inside || p.s[0] != ',' && p.s[0] != ')'); p.s = p.s[1:] {
			c := p.s[0]
			switch {
			case c == '\\' && len(p.s) > 1, c == '"' && inside && len(p.s) > 1 && p.s[1] == '"':
				p.s = p.s[1:]
				b = append(b, p.s[0])
			case c == '"':
				inside = !inside
			default:
				b = append(b, c)
			}
			some = true
		}
		end := byte(',')
		if i == len(fields)-1 {
			end = ')'
		}
		if p.s == "" || p.s[0] != end {
			return Value{}, p.malformed()
		}
		p.s = p.s[1:]
		if vals[i] = NullOf(f.Type); some {
			var err error
			if vals[i], err = ParseIn(p.z, f.Type, string(b)); err != nil {
				return Value{}, err
			}
		}
	}
	if len(fields) == 0 && !p.take(')') {
		return Value{}, p.malformed()
	}
	return StructValue(t, vals), nil
}

// What ends a text that is not in quotes: a value, a key of a map, a name of a struct's field. Times have colons.
const (
	valueEnds = "]}),"
	keyEnds   = valueEnds + "="
	nameEnds  = valueEnds + ":"
)

// word reads a text: in quotes, or up to what ends it.
func (p *nestedParser) word(ends string) (string, error) {
	p.blanks()
	if p.s != "" && (p.s[0] == '\'' || p.s[0] == '"') {
		quote := p.s[0]
		var b []byte
		for i := 1; i < len(p.s); i++ {
			switch c := p.s[i]; {
			case c == '\\' && i+1 < len(p.s):
				i++
				b = append(b, p.s[i])
			case c == quote:
				p.s = p.s[i+1:]
				return string(b), nil
			default:
				b = append(b, c)
			}
		}
		return "", p.malformed()
	}
	end := strings.IndexAny(p.s, ends)
	if end <= 0 {
		return "", p.malformed()
	}
	word := strings.TrimRight(p.s[:end], " \t\n\r\v\f")
	p.s = p.s[end:]
	return word, nil
}
