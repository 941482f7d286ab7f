package types

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// JSONBKey is a text of bytes by which values of JSONB compare as PostgreSQL compares them: null, texts, numbers, truth values, arrays, objects; of
// two arrays or objects the one with fewer elements comes first, and then the first difference counts. A text of JSONB itself says less: in it 1 and
// 1.0 differ, which are equal.
//
//	whole    = 0x00 | 0x01 value | 0x02 …          an empty array by itself, a scalar, what has elements
//	array    = number of elements, elements
//	object   = number of pairs, { text, value }    in the order of the spelling
//	text     = bytes, 0x00 as 0x00 0xff, then 0x00 0x01
//	number   = 0x80 | 0x81 exponent digits 0x00    negative ones with all bits of the latter inverted behind 0x7f
func JSONBKey(text string) string {
	v, _ := ParseJSON(text) // a value of JSONB was read before
	switch {
	case v.Kind == '[' && len(v.Elems) == 0: // before scalars, unlike one inside of another value
		return "\x00"
	case v.Kind == '[' || v.Kind == '{':
		return string(v.appendKey([]byte{2}))
	}
	return string(v.appendKey([]byte{1}))
}

func (v JSONValue) appendKey(dst []byte) []byte {
	switch v.Kind {
	case 'n':
		return append(dst, 1)
	case '"':
		return appendTextKey(append(dst, 2), v.Text())
	case '0':
		return appendNumberKey(append(dst, 3), v.Raw)
	case 't':
		return append(dst, 4, byte(b2i(v.Raw == "true")))
	case '[':
		dst = append(dst, 5)
	default:
		dst = append(dst, 6)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Elems)))
	for i, e := range v.Elems {
		if v.Kind == '{' {
			dst = appendTextKey(dst, v.Keys[i])
		}
		dst = e.appendKey(dst)
	}
	return dst
}

// SameScalar reports that two scalars are equal: 1 and 1.0 are.
func (v JSONValue) SameScalar(w JSONValue) bool {
	return string(v.appendKey(nil)) == string(w.appendKey(nil))
}

func appendTextKey(dst []byte, s string) []byte {
	dst = append(dst, strings.ReplaceAll(s, "\x00", "\x00\xff")...)
	return append(dst, 0, 1)
}

// appendNumberKey appends a number as 0.ddd times ten to an exponent.
func appendNumberKey(dst []byte, s string) []byte {
	s, negative := strings.CutPrefix(s, "-")
	exp := 0
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		exp, _ = strconv.Atoi(s[at+1:])
		s = s[:at]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exp += len(digits) - len(fraction)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return append(dst, 0x80)
	}
	from := len(dst) + 1
	dst = binary.BigEndian.AppendUint32(append(dst, 0x81), uint32(exp)^1<<31)
	dst = append(append(dst, digits...), 0)
	if negative {
		dst[from-1] = 0x7f
		for i := from; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
