package funcs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// to_number, as PostgreSQL's formatting.c does it: each part of the format takes what it can use from the text.

// NumberScale is how many digits after the point a number has that is read by a format.
func NumberScale(format string) (int, error) {
	f, err := readNumberFormat(format)
	return f.post, err
}

// readNumber is to_number(text, format).
func readNumber(a []types.Value, t types.Type) (types.Value, error) {
	if a[1].S == "" {
		return null(t)
	}
	f, err := readNumberFormat(a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	r := numberReader{numberFormat: f, s: a[0].S}
	if slices.ContainsFunc(f.tokens, func(k numberToken) bool { return k.kind == "RN" }) {
		return fail(diag.FeatureNotSupported, "\"RN\" not supported for input")
	}
	for _, k := range f.tokens {
		if r.s == "" {
			break
		}
		r.read(k)
	}
	if f.post > int(t.Scale) {
		return fail(diag.FeatureNotSupported, "to_number of more than %d digits after the point by a format that is not a constant is not supported", t.Scale)
	}
	digits := strings.TrimSuffix(r.digits.String(), ".")
	if strings.Trim(digits, ".") == "" {
		return fail(diag.InvalidTextRepresentation, "invalid input syntax for type numeric: %q", " ")
	}
	if whole, _, _ := strings.Cut(digits, "."); len(strings.TrimLeft(whole, "0")) > f.pre {
		return fail(diag.NumericOutOfRange, "numeric field overflow: the format has %d digits before the point", f.pre)
	}
	if r.sign == '-' {
		digits = "-" + digits
	}
	return types.ParseValue(t, digits)
}

// numberReader reads a number by a format.
type numberReader struct {
	numberFormat
	s         string // what is left of the text
	digits    strings.Builder
	sign      byte // 0: none was read
	pointRead bool
	preRead   int
	postRead  int
}

// read takes what a part of the format is for from the text.
func (r *numberReader) read(k numberToken) {
	switch k.kind {
	case "":
		for range k.text { // one character for each, whatever it is
			_, n := utf8.DecodeRuneInString(r.s)
			r.s = r.s[n:]
		}
	case "9", "0", ".", "D":
		r.part(k.kind)
		r.skip(1)
	case ",", "G":
		if !r.fill && r.s[0] == ',' {
			r.skip(1)
		}
	case "L":
		r.skipOther(1)
	case "TH":
		if !r.point {
			r.skipOther(2)
		}
	case "MI", "PL", "SG":
		if c := r.s[0]; c == '-' && k.kind != "PL" || c == '+' && k.kind != "MI" {
			r.sign = c
			r.skip(1)
		} else {
			r.skipOther(1)
		}
	}
}

func (r *numberReader) skip(n int) { r.s = r.s[min(n, len(r.s)):] }

// skipOther passes over up to n characters that no number has.
func (r *numberReader) skipOther(n int) {
	for ; n > 0 && r.s != "" && !strings.Contains("0123456789.,+-", r.s[:1]); n-- {
		_, size := utf8.DecodeRuneInString(r.s)
		r.s = r.s[size:]
	}
}

// part reads a digit or the point, and a sign beside it. It leaves the text at the last character that it read.
func (r *numberReader) part(kind string) {
	if r.s[0] == ' ' {
		r.skip(1)
	}
	if r.s == "" {
		return
	}
	if r.sign == 0 && (kind == "9" || kind == "0") && r.preRead+r.postRead == 0 {
		switch c := r.s[0]; {
		case c == '-' || c == '<' && r.bracket:
			r.sign = '-'
			r.skip(1)
		case c == '+':
			r.sign = '+'
			r.skip(1)
		}
	}
	if r.s == "" {
		return
	}
	took := false
	switch c := r.s[0]; {
	case c >= '0' && c <= '9':
		if r.pointRead && r.postRead == r.post {
			return
		}
		r.digits.WriteByte(c)
		if r.pointRead {
			r.postRead++
		} else {
			r.preRead++
		}
		took = true
	case c == '.' && r.point && !r.pointRead:
		r.digits.WriteByte('.')
		r.pointRead, took = true, true
	}
	if r.sign != 0 || r.preRead+r.postRead == 0 {
		return
	}
	switch {
	case r.numberFormat.sign && took && len(r.s) > 1: // S: the sign may stand behind the last digit
		if c := r.s[1]; c == '-' || c == '+' {
			r.sign = c
			r.skip(1)
		}
	case !took && !r.numberFormat.sign && !r.plus && !r.minus: // a sign for which the format has no place
		if c := r.s[0]; c == '-' || c == '+' {
			r.sign = c
		}
	}
}
