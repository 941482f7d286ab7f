package funcs

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// to_char of numbers, as PostgreSQL's formatting.c does it: character by character of the format, with the digits of the
// number at hand, so that its odd cases come out the same.

// numberToken is one part of a format.
type numberToken struct {
	kind string // a keyword, or "" for a text
	text string
}

// numberFormat is what a format says as a whole.
type numberFormat struct {
	tokens             []numberToken
	pre, post          int // places before and after the point
	point, fill        bool
	zero               bool
	zeroStart, zeroEnd int
	sign, signAfter    bool // S, and whether the sign comes after the digits
	signAt             int
	minus, plus        bool
	bracket, roman     bool
}

var numberKeywords = []string{"EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", ",", ".", "0", "9", "B", "C", "D", "G", "L", "S", "V"}

func readNumberFormat(s string) (f numberFormat, err error) {
	for s != "" {
		if text, rest, ok := quotedInFormat(s); ok {
			f.tokens = append(f.tokens, numberToken{text: text})
			s = rest
			continue
		}
		word := ""
		for _, k := range numberKeywords {
			if len(s) >= len(k) && strings.EqualFold(s[:len(k)], k) {
				word = k
				break
			}
		}
		if word == "" {
			f.tokens = append(f.tokens, numberToken{text: s[:1]})
			s = s[1:]
			continue
		}
		f.tokens = append(f.tokens, numberToken{word, s[:len(word)]})
		s = s[len(word):]
		if err := f.note(word); err != nil {
			return f, err
		}
	}
	return f, nil
}

// note takes a keyword into account.
func (f *numberFormat) note(word string) error {
	if f.bracket && word != "TH" {
		return errorf(diag.SyntaxError, "\"PR\" must be at the end of a number's format")
	}
	switch word {
	case "9", "0":
		if word == "0" && !f.zero && !f.point {
			f.zero, f.zeroStart = true, f.pre
		}
		if f.point {
			f.post++
		} else {
			f.pre++
		}
		if word == "0" {
			f.zeroEnd = f.pre + f.post
		}
	case ".", "D":
		if f.point {
			return errorf(diag.SyntaxError, "multiple decimal points")
		}
		f.point = true
	case "FM":
		f.fill = true
	case "S":
		if f.sign {
			return errorf(diag.SyntaxError, "cannot use \"S\" twice")
		}
		if f.plus || f.minus {
			return errorf(diag.SyntaxError, "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		f.sign, f.signAfter, f.signAt = true, f.point, f.pre
	case "MI", "PL", "SG":
		if f.sign {
			return errorf(diag.SyntaxError, "cannot use \"S\" and %q together", word)
		}
		f.minus = f.minus || word != "PL"
		f.plus = f.plus || word != "MI"
	case "PR":
		if f.sign || f.plus || f.minus {
			return errorf(diag.SyntaxError, "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		f.bracket = true
	case "RN":
		f.roman = true
	case "V", "EEEE", "C", "SP":
		return errorf(diag.FeatureNotSupported, "%q in the format of a number is not supported", word)
	}
	return nil
}

// formatNumber is to_char(number, format).
func formatNumber(a []types.Value, _ types.Type) (types.Value, error) {
	f, err := readNumberFormat(a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	v := a[0]
	if f.roman {
		return romanNumber(f, v)
	}
	digits := ""
	negative := false
	switch {
	case !v.Type.IsFloat():
		exact, _ := new(big.Rat).SetString(v.String())
		digits = exact.FloatString(f.post)
		if rest, ok := strings.CutPrefix(digits, "-"); ok {
			digits, negative = rest, true
		}
	case math.IsNaN(v.F):
		digits = "NaN" // which stands in the places before the point
	case math.IsInf(v.F, 0):
		digits, negative = "Infinity", v.F < 0
	default:
		digits, f.post = roundedFloat(v.F, f.post)
		negative = math.Signbit(v.F)
	}
	if strings.Trim(digits, "0.") == "" && !v.Type.IsFloat() {
		negative = false
	}
	w := numberWriter{numberFormat: f, digits: digits, negative: negative}
	whole, _, _ := strings.Cut(digits, ".")
	switch {
	case len(whole) < f.pre:
		w.blanks = f.pre - len(whole)
	case len(whole) > f.pre:
		w.digits = strings.Repeat("#", f.pre)
		if f.post > 0 || f.point {
			w.digits += "." + strings.Repeat("#", f.post)
		}
	}
	return text(w.write())
}

// roundedFloat has post digits after the point, of which no more than 15 in all are trusted.
func roundedFloat(f float64, post int) (string, int) {
	f = math.Abs(f)
	whole := strconv.FormatFloat(f, 'f', 0, 64)
	if len(whole) >= 15 {
		post = 0
	} else {
		post = min(post, 15-len(whole))
	}
	return strconv.FormatFloat(f, 'f', post, 64), post
}

// numberWriter writes digits by a format.
type numberWriter struct {
	numberFormat
	digits   string
	negative bool
	blanks   int // places before the point for which there are no digits

	at, place int // in digits; among the places of the format
	last      int // behind the last digit that counts; -1: all do
	count     int
	signed    bool // the sign is written, or not wanted
	begun     bool // a digit is written
	b         strings.Builder
}

func (w *numberWriter) write() string {
	if w.plus || w.minus {
		w.signed = !(w.plus && !w.minus)
	} else {
		if !w.negative && w.fill {
			w.bracket = false
		}
		w.signed = !w.negative && w.fill && !w.sign
		if w.sign && !w.signAfter && w.pre == w.signAt {
			w.signAfter = true
		}
	}
	w.count = w.post + w.pre - 1
	w.last = -1
	if w.fill && w.point {
		if i := strings.IndexByte(w.digits, '.'); i >= 0 {
			w.last = i
			for k := i + 1; k < len(w.digits); k++ {
				if w.digits[k] != '0' {
					w.last = k
				}
			}
			if w.zeroEnd > w.blanks {
				w.last = max(w.last, min(len(w.digits)-1, w.zeroEnd-w.blanks))
			}
		}
	}
	if !w.signed && w.blanks == 0 {
		w.count++
	}
	for _, t := range w.tokens {
		switch t.kind {
		case "":
			w.b.WriteString(t.text)
		case "9", "0", ".", "D":
			w.digit(t.kind)
		case ",", "G":
			switch {
			case w.begun:
				w.b.WriteByte(',')
			case !w.fill:
				w.b.WriteByte(' ')
			}
		case "L":
			w.b.WriteByte(' ')
		case "TH":
			if !w.negative && !w.point && !strings.HasPrefix(w.digits, "#") {
				w.b.WriteString(ordinal(w.digits, t.text[0] == 'T'))
			}
		case "MI":
			w.oneSign('-', w.negative)
		case "PL":
			w.oneSign('+', !w.negative)
		case "SG":
			if w.negative {
				w.b.WriteByte('-')
			} else {
				w.b.WriteByte('+')
			}
		}
	}
	return w.b.String()
}

func (w *numberWriter) oneSign(c byte, have bool) {
	switch {
	case have:
		w.b.WriteByte(c)
	case !w.fill:
		w.b.WriteByte(' ')
	}
}

// lone reports the zero of 0.5, which a 9 does not show.
func (w *numberWriter) lone() bool {
	return !w.zero && w.at == 0 && strings.HasPrefix(w.digits, "0") && w.post != 0
}

// lastIsPoint: nothing counts after the point.
func (w *numberWriter) lastIsPoint() bool { return w.last >= 0 && w.digits[w.last] == '.' }

// digit writes a place of the format, and the sign where it belongs.
func (w *numberWriter) digit(kind string) {
	if w.roman {
		return
	}
	if !w.signed && (w.place >= w.blanks || w.zero && w.zeroStart == w.place) && (!w.lone() || w.lastIsPoint()) {
		switch {
		case w.sign:
			if !w.signAfter {
				w.writeSign()
				w.signed = true
			}
		case w.bracket:
			if w.negative {
				w.b.WriteByte('<')
			} else {
				w.b.WriteByte(' ')
			}
			w.signed = true
		case !w.negative:
			if !w.fill {
				w.b.WriteByte(' ')
			}
			w.signed = true
		default:
			w.b.WriteByte('-')
			w.signed = true
		}
	}
	switch {
	case w.place < w.blanks && (w.zeroStart > w.place || !w.zero):
		if !w.fill {
			w.b.WriteByte(' ')
		}
	case w.place < w.blanks:
		w.b.WriteByte('0')
		w.begun = true
	default:
		w.next(kind)
	}
	end := w.count
	if w.blanks > 0 {
		end++
	}
	if w.point {
		end++
	}
	if w.last >= 0 && w.last == w.at {
		end = w.place
	}
	if w.place+1 == end {
		switch {
		case w.signed && w.bracket:
			if w.negative {
				w.b.WriteByte('>')
			} else {
				w.b.WriteByte(' ')
			}
		case w.sign && w.signAfter:
			w.writeSign()
		}
	}
	w.place++
}

// next writes the next character of the number.
func (w *numberWriter) next(kind string) {
	if w.at >= len(w.digits) {
		return
	}
	switch c := w.digits[w.at]; {
	case c == '.':
		if !w.lastIsPoint() || w.fill {
			w.b.WriteByte('.')
		}
	case w.last >= 0 && w.at > w.last && kind != "0":
	case w.lone():
		switch {
		case !w.fill:
			w.b.WriteByte(' ')
		case w.lastIsPoint():
			w.b.WriteByte('0')
		}
	default:
		w.b.WriteByte(c)
		w.begun = true
	}
	w.at++
}

func (w *numberWriter) writeSign() {
	if w.negative {
		w.b.WriteByte('-')
	} else {
		w.b.WriteByte('+')
	}
}

// ordinal is the ending of 1st, 2nd, 3rd, 4th.
func ordinal(digits string, upper bool) string {
	s := "th"
	n := len(digits)
	if n > 0 && !(n > 1 && digits[n-2] == '1') {
		switch digits[n-1] {
		case '1':
			s = "st"
		case '2':
			s = "nd"
		case '3':
			s = "rd"
		}
	}
	if upper {
		return strings.ToUpper(s)
	}
	return s
}

// romanNumber writes 1 to 3999; others do not fit.
func romanNumber(f numberFormat, v types.Value) (types.Value, error) {
	w, err := types.Cast(v, types.TInt32)
	if err != nil && !v.Type.IsFloat() {
		return types.Value{}, err
	}
	s := strings.Repeat("#", 15)
	if err == nil && w.I > 0 && w.I < 4000 {
		s = roman(int(w.I))
	}
	for _, t := range f.tokens {
		if t.kind == "RN" && t.text == "rn" {
			s = strings.ToLower(s)
		}
	}
	if !f.fill {
		s = strings.Repeat(" ", max(15-len(s), 0)) + s
	}
	return text(s)
}

func roman(n int) string {
	var b strings.Builder
	for i, v := range []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; n >= v; n -= v {
			b.WriteString([]string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i])
		}
	}
	return b.String()
}

func prettySize(a []types.Value, _ types.Type) (types.Value, error) {
	n := a[0].I
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	// As PostgreSQL: a unit is left when there are ten thousand and more of it, and halves are rounded away from zero.
	abs := func(x int64) int64 { return max(x, -x) }
	for i, u := range units {
		limit := int64(10240)
		if i > 0 {
			limit = 20*1024 - 1
		}
		if i == len(units)-1 || n > math.MinInt64 && abs(n) < limit {
			if i > 0 { // what is left counts halves
				if n >= 0 {
					n = (n + 1) / 2
				} else {
					n = (n - 1) / 2
				}
			}
			return text(strconv.FormatInt(n, 10) + " " + u)
		}
		if i == 0 {
			n /= 512
		} else {
			n /= 1024
		}
	}
	return text("")
}

// prettyNumeric is prettySize of a number that may have a fraction, which only bytes keep, or be larger than a BIGINT.
func prettyNumeric(a []types.Value, t types.Type) (types.Value, error) {
	whole, _, _ := strings.Cut(a[0].String(), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case err != nil:
		x, _ := new(big.Int).SetString(whole, 10)
		x.Quo(x, new(big.Int).Lsh(bigOne, 49)) // halves of PB
		if x.Sign() > 0 {
			x.Add(x, bigOne)
		} else {
			x.Sub(x, bigOne)
		}
		return text(x.Quo(x, bigTwo).String() + " PB")
	case n > -10240 && n < 10240:
		return text(a[0].String() + " bytes")
	}
	return prettySize([]types.Value{types.IntValue(types.TInt64, n)}, t)
}

var bigOne, bigTwo = big.NewInt(1), big.NewInt(2)

// humanBytes writes a number of bytes with one digit after the point.
func humanBytes(n, base int64, units ...string) string {
	sign := ""
	f := float64(n)
	if n < 0 {
		sign, f = "-", -f
	}
	if f < float64(base) {
		if f == 1 {
			return sign + "1 byte"
		}
		return sign + strconv.FormatFloat(f, 'f', 0, 64) + " bytes"
	}
	unit := ""
	for _, unit = range units {
		if f /= float64(base); f < float64(base) {
			break
		}
	}
	return sign + strconv.FormatFloat(math.Floor(f*10)/10, 'f', 1, 64) + " " + unit
}
