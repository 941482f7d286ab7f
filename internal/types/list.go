package types

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"unsafe"
)

// Lists. A list is one text-like value: its elements one after the other, encoded so that comparing the bytes compares the
// lists as PostgreSQL compares arrays. So whatever is done with texts, storing, hashing, grouping, joining, sorting, is right for
// lists without knowing them; what looks into a list decodes it.
//
//	list     = { element } 0x00                    a shorter list is before those that go on
//	element  = 0x01 value | 0x02                   NULL is after all values
//	integers = big-endian, sign flipped            as many bytes as the type has
//	floats   = bits, so that they order as numbers -0 is 0, and there is one NaN
//	texts    = bytes, 0x00 as 0x00 0xff, then 0x00 0x01

// ListValue is the list of some values, each of type elem or NULL.
func ListValue(elem Type, elems []Value) Value {
	b := make([]byte, 0, 10*len(elems)+1)
	for _, v := range elems {
		b = AppendElem(b, elem, v)
	}
	return Value{Type: TList(elem), S: string(append(b, 0))}
}

// IntList is the list of type t, which is one of elem, of integers, or of decimals that fit into 64 bits, in b, which is empty;
// IntListSize is how many bytes it has.
func IntList(b []byte, t, elem Type, xs []int64) Value {
	switch elemWidth(elem) {
	case 2:
		for _, x := range xs {
			b = binary.BigEndian.AppendUint16(append(b, ElemValue), uint16(x)^1<<15)
		}
	case 4:
		for _, x := range xs {
			b = binary.BigEndian.AppendUint32(append(b, ElemValue), uint32(x)^1<<31)
		}
	case 8:
		for _, x := range xs {
			b = binary.BigEndian.AppendUint64(append(b, ElemValue), uint64(x)^1<<63)
		}
	default:
		for _, x := range xs {
			b = AppendElem(b, elem, Value{Type: elem, I: x, Hi: x >> 63})
		}
	}
	b = append(b, 0)
	return Value{Type: t, S: unsafe.String(unsafe.SliceData(b), len(b))}
}

func IntListSize(elem Type, n int) int { return n*(1+elemWidth(elem)) + 1 }

// ElemWords turns words of elements of at most 8 bytes, whole numbers or the bits of doubles, into words whose first bytes, as
// many as FixedElem says, are those of the list, behind ElemValue.
func ElemWords(elem Type, xs []uint64) {
	switch width := elemWidth(elem); {
	case elem.IsFloat():
		for i, x := range xs {
			xs[i] = bits.ReverseBytes64(orderedBits(math.Float64frombits(x)))
		}
	case width == 8:
		for i, x := range xs {
			xs[i] = bits.ReverseBytes64(x ^ 1<<63)
		}
	case width == 4:
		for i, x := range xs {
			xs[i] = uint64(bits.ReverseBytes32(uint32(x) ^ 1<<31))
		}
	case width == 2:
		for i, x := range xs {
			xs[i] = uint64(bits.ReverseBytes16(uint16(x) ^ 1<<15))
		}
	}
}

// The byte that an element begins with, and that which ends a list.
const (
	ElemsEnd  = 0
	ElemValue = 1
	ElemNull  = 2
)

// AppendElem appends an element of a list to its encoding, which a zero ends.
func AppendElem(b []byte, t Type, v Value) []byte {
	if v.Null {
		return append(b, ElemNull)
	}
	b = append(b, ElemValue)
	switch width := elemWidth(t); {
	case t.Phys() == PhysStr && !t.IsNested():
		for i := range len(v.S) {
			if b = append(b, v.S[i]); v.S[i] == 0 {
				b = append(b, 0xff)
			}
		}
		return append(b, 0, 1)
	case t.IsNested(): // ends where it ends
		return append(b, v.S...)
	case t.IsFloat():
		return binary.BigEndian.AppendUint64(b, orderedBits(v.F))
	case width == 1:
		return append(b, byte(v.I))
	case width == 2:
		return binary.BigEndian.AppendUint16(b, uint16(v.I)^1<<15)
	case width == 4:
		return binary.BigEndian.AppendUint32(b, uint32(v.I)^1<<31)
	case width == 8:
		return binary.BigEndian.AppendUint64(b, uint64(v.I)^1<<63)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(v.Hi)^1<<63)
	return binary.BigEndian.AppendUint64(b, uint64(v.I))
}

// elemWidth is how many bytes an integer takes.
func elemWidth(t Type) int {
	switch t.Kind {
	case Bool:
		return 1
	case Int8, UInt8, Int16:
		return 2
	case UInt16, Int32, Date:
		return 4
	case Decimal:
		if t.Wide() {
			return 16
		}
	}
	return 8
}

func orderedBits(f float64) uint64 {
	switch {
	case f == 0:
		f = 0
	case f != f:
		f = math.NaN()
	}
	x := math.Float64bits(f)
	if x>>63 != 0 {
		return ^x
	}
	return x | 1<<63
}

// Elems takes a list apart.
func (v Value) Elems() []Value {
	var out []Value
	elem := v.Type.Elem()
	for s := v.S; len(s) > 0 && s[0] != 0; {
		var x Value
		x, s = nextElem(elem, s)
		out = append(out, x)
	}
	return out
}

// ListLen is how many elements a list has.
func (v Value) ListLen() int {
	n := 0
	elem := v.Type.Elem()
	s := v.S
	if width, ok := FixedElem(elem); ok {
		for i := 0; i < len(s) && s[i] != 0; n++ {
			if i++; s[i-1] == ElemValue {
				i += width
			}
		}
		return n
	}
	for ; len(s) > 0 && s[0] != 0; n++ {
		_, s = nextElem(elem, s)
	}
	return n
}

// FixedElem is how many bytes an element of a list has that is not NULL, if all have the same, behind the byte that says so.
func FixedElem(elem Type) (width int, ok bool) {
	return elemWidth(elem), elem.Phys() != PhysStr && !elem.IsNested()
}

// nextElem decodes the element at the start of s.
func nextElem(t Type, s string) (v Value, rest string) {
	null := s[0] == ElemNull
	if s = s[1:]; null {
		return NullOf(t), s
	}
	v.Type = t
	switch width := elemWidth(t); {
	case t.IsNested():
		n := 0
		if t.Kind == Struct {
			n = structEnd(t, s)
		} else {
			n = listEnd(t.Elem(), s)
		}
		v.S = s[:n]
		return v, s[n:]
	case t.Phys() == PhysStr:
		var b []byte
		for i := 0; ; i++ {
			if s[i] != 0 {
				continue
			}
			if s[i+1] == 1 {
				if b == nil { // nothing was escaped
					v.S = s[:i]
				} else {
					v.S = string(append(b, s[:i]...))
				}
				return v, s[i+2:]
			}
			b = append(b, s[:i+1]...)
			s, i = s[i+2:], -1
		}
	case t.IsFloat():
		x := bigEndian(s[:8])
		if x>>63 != 0 {
			x &^= 1 << 63
		} else {
			x = ^x
		}
		v.F = math.Float64frombits(x)
		return v, s[8:]
	case width == 1:
		v.I = int64(s[0])
		return v, s[1:]
	case width == 16:
		v.Hi, v.I = int64(bigEndian(s[:8])^1<<63), int64(bigEndian(s[8:16]))
		return v, s[16:]
	default:
		shift := 64 - 8*width
		v.I = int64(bigEndian(s[:width])<<shift^1<<63) >> shift
		if t.Kind == Decimal {
			v.Hi = v.I >> 63
		}
		return v, s[width:]
	}
}

func bigEndian(s string) (x uint64) {
	for i := range len(s) {
		x = x<<8 | uint64(s[i])
	}
	return x
}

// listEnd is how many bytes the list at the start of s has.
func listEnd(elem Type, s string) int {
	rest := s
	for rest[0] != 0 {
		_, rest = nextElem(elem, rest)
	}
	return len(s) - len(rest) + 1
}

// appendList appends a list as PostgreSQL writes arrays.
func appendList(dst []byte, v Value, z *Zone) []byte {
	if v.Type.hasNames() {
		return appendNamed(dst, v, z)
	}
	dst = append(dst, '{')
	for i, x := range v.Elems() {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case x.Null:
			dst = append(dst, "NULL"...)
		case x.Type.Kind == List:
			dst = appendList(dst, x, z)
		default:
			dst = AppendListElem(dst, elemText(x, z))
		}
	}
	return append(dst, '}')
}

// elemText is the text of an element; truth values are short in arrays.
func elemText(v Value, z *Zone) string {
	if v.Type.Kind == Bool {
		return map[bool]string{true: "t", false: "f"}[v.I != 0]
	}
	return string(v.AppendTextIn(nil, z))
}

// AppendListElem appends the text of an element, in quotes where it needs them.
func AppendListElem(dst []byte, s string) []byte {
	if s != "" && !strings.EqualFold(s, "null") && !strings.ContainsAny(s, "{},\"\\ \t\n\r\v\f") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// parseList reads {1,2,NULL,"x y"}, in zone z.
func parseList(z *Zone, t Type, text string) (Value, error) {
	if start := strings.TrimLeft(text, " \t\n\r\v\f"); strings.HasPrefix(start, "[") && !strings.Contains(start, "]=") || t.hasNames() {
		return parseNested(z, t, text)
	}
	p := &listParser{z: z, s: text, text: text}
	p.blanks()
	v, err := p.list(t)
	if err != nil {
		return v, err
	}
	if p.blanks(); p.s != "" {
		return v, p.malformed("Junk after closing right brace.")
	}
	return v, nil
}

type listParser struct {
	z       *Zone
	s, text string
}

func (p *listParser) blanks() { p.s = strings.TrimLeft(p.s, " \t\n\r\v\f") }

func (p *listParser) malformed(detail string) error {
	err := errf(codeSyntax, "malformed array literal: %s", quoted(p.text))
	err.Detail = detail
	return err
}

func (p *listParser) list(t Type) (Value, error) {
	elem := t.Elem()
	if p.s == "" || p.s[0] != '{' {
		if p.s != "" && p.s[0] == '[' {
			return Value{}, errf(codeNotSupported, "array literals with bounds are not supported")
		}
		return Value{}, p.malformed(`Array value must start with "{" or dimension information.`)
	}
	p.s = p.s[1:]
	p.blanks()
	var elems []Value
	if strings.HasPrefix(p.s, "}") {
		p.s = p.s[1:]
		return ListValue(elem, nil), nil
	}
	for {
		p.blanks()
		v, err := p.element(elem)
		if err != nil {
			return v, err
		}
		elems = append(elems, v)
		p.blanks()
		switch {
		case strings.HasPrefix(p.s, ","):
			p.s = p.s[1:]
		case strings.HasPrefix(p.s, "}"):
			p.s = p.s[1:]
			return ListValue(elem, elems), nil
		case p.s == "":
			return Value{}, p.malformed("Unexpected end of input.")
		default:
			return Value{}, p.malformed("Unexpected array element.")
		}
	}
}

func (p *listParser) element(t Type) (Value, error) {
	nested := strings.HasPrefix(p.s, "{")
	switch {
	case nested && t.Kind != List && !evenBraces(p.text):
		return Value{}, p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
	case nested && t.Kind == List:
		return p.list(t)
	case nested:
		return Value{}, &Error{Code: codeNotSupported, Msg: "an array of more dimensions than its type is not supported",
			Detail: "The type of a list of lists has as many [] as there are braces."}
	}
	word, quoted, ok := p.word()
	switch {
	case !ok:
		return Value{}, p.malformed("Unexpected end of input.")
	case word == "" && !quoted:
		return Value{}, p.malformed("Unexpected \"" + p.s[:min(1, len(p.s))] + "\" character.")
	case !quoted && strings.EqualFold(word, "null"):
		return NullOf(t), nil
	}
	return ParseIn(p.z, t, word)
}

// evenBraces reports an array literal whose sub-arrays have as many elements as their neighbours, and are as deep.
func evenBraces(text string) bool {
	var counts, want []int // of each depth: so far, and in the first array there; 0 if it has not ended yet
	deepest, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if counts = append(counts, 0); len(counts) > len(want) {
				if deepest > 0 {
					return false // an array beside elements
				}
				want = append(want, 0)
			}
			if rest := strings.TrimLeft(text[i+1:], " \t\n\r\v\f"); rest == "" || rest[0] == '}' || rest[0] != '{' && deepest > 0 && len(counts) != deepest {
				return false
			} else if rest[0] != '{' {
				deepest = len(counts)
			}
		case c == ',' && len(counts) > 0:
			if counts[len(counts)-1]++; len(counts) < deepest && !strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\n\r\v\f"), "{") {
				return false
			}
		case c == '}' && len(counts) > 0:
			last := len(counts) - 1
			if n := counts[last] + 1; want[last] == 0 {
				want[last] = n
			} else if want[last] != n {
				return false
			}
			counts = counts[:last]
		}
	}
	return len(counts) == 0
}

// word reads an element's text: up to a comma or brace, or in quotes.
func (p *listParser) word() (word string, quoted, ok bool) {
	var b []byte
	keep := 0 // what must stay of it though it is blank: escapes
	for {
		if p.s == "" {
			return "", false, false
		}
		c := p.s[0]
		switch {
		case c == '"' && quoted:
			return "", false, false // a second one
		case c == '"' && strings.TrimLeft(string(b), " ") == "":
			quoted, b = true, b[:0]
			p.s = p.s[1:]
			for p.s != "" && p.s[0] != '"' {
				if p.s[0] == '\\' && len(p.s) > 1 {
					p.s = p.s[1:]
				}
				b = append(b, p.s[0])
				p.s = p.s[1:]
			}
			if p.s == "" {
				return "", false, false
			}
			p.s = p.s[1:]
			p.blanks()
			return string(b), true, p.s != "" && (p.s[0] == ',' || p.s[0] == '}')
		case c == ',' || c == '}' || c == '{' || c == '"':
			end := len(b)
			for end > keep && strings.IndexByte(" \t\n\r\v\f", b[end-1]) >= 0 {
				end--
			}
			return string(b[:end]), false, true
		case c == '\\' && len(p.s) > 1:
			b = append(b, p.s[1])
			keep = len(b)
			p.s = p.s[2:]
		default:
			b = append(b, c)
			p.s = p.s[1:]
		}
	}
}

// castList converts each element.
func castList(v Value, to Type) (Value, error) {
	elem := to.Elem()
	elems := v.Elems()
	for i, x := range elems {
		y, err := Cast(x, elem)
		if err != nil {
			return y, err
		}
		elems[i] = y
	}
	return ListValue(elem, elems), nil
}
