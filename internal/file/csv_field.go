package file

import (
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// tokenizer takes fields of any form: quoted, escaped, NULL. What it accepts is
// what the splitter accepts, byte for byte; both follow these rules. CSV: a quote opens a quoted
// part only at the beginning of a field; inside, a doubled quote (or one after the escape
// character) is a quote; what follows the closing quote up to the delimiter belongs to the
// value. Text: a backslash takes the meaning from what follows it, of whatever kind.
type tokenizer struct {
	d   *dialect
	s   stops
	buf []byte // the value, where it is not in the text as it is; pad zeros follow
}

func newTokenizer(d *dialect) tokenizer {
	third := d.nl
	if d.text {
		third = '\\'
	}
	return tokenizer{d: d, s: newStops(d.delim, d.nl, third)}
}

// field is a value: src[lo:hi], and src goes on for pad bytes.
type field struct {
	src    []byte
	lo, hi int
	quoted bool
	loose  bool // more follows the closing quote
	null   bool
}

func (f *field) bytes() []byte { return f.src[f.lo:f.hi] }

var errUnterminated = errors.New("unterminated CSV quoted field")

// field reads the field at b[p:]; q is where its delimiter or newline is. The text ends at
// end with a newline, which belongs to no value.
func (k *tokenizer) field(b []byte, p, end int) (f field, q int, err error) {
	d := k.d
	if d.hasQuote && b[p] == d.quote {
		return k.quoted(b, p, end)
	}
	q, _ = scanText(b, p, &k.s)
	if d.text && b[q] == '\\' {
		f, q = k.escaped(b, p, q, end)
		return f, q, nil
	}
	f = field{src: b, lo: p, hi: k.trimCR(b, p, q)}
	f.null = string(f.bytes()) == d.null || len(d.nulls) > 0 && slices.Contains(d.nulls, string(f.bytes()))
	return f, q, nil
}

// trimCR is the end of a field that ends at q, without the carriage return of a CRLF.
func (k *tokenizer) trimCR(b []byte, p, q int) int {
	if b[q] == '\n' && k.d.nl == '\n' && q > p && b[q-1] == '\r' {
		return q - 1
	}
	return q
}

// quoted reads a field that begins with a quote.
func (k *tokenizer) quoted(b []byte, p, end int) (f field, q int, err error) {
	d := k.d
	out := k.buf[:0]
	start := p + 1
	i := start
	for {
		for i < end && b[i] != d.quote && b[i] != d.escape {
			i++
		}
		if i >= end-1 { // the last byte is the newline at the end
			return f, 0, errUnterminated
		}
		if b[i] == d.escape && (b[i+1] == d.quote || b[i+1] == d.escape) && i+1 < end-1 {
			out = append(out, b[start:i]...)
			out = append(out, b[i+1])
			i += 2
			start = i
			continue
		}
		if b[i] == d.quote {
			break
		}
		i++ // an escape character that escapes nothing
	}
	q, _ = scanText(b, i+1, &k.s)
	rest := k.trimCR(b, i+1, q)
	if len(out) == 0 && rest == i+1 && i+pad < len(b) {
		return field{src: b, lo: start, hi: i, quoted: true}, q, nil // nothing to unescape: as it is
	}
	out = append(out, b[start:i]...)
	out = append(out, b[i+1:rest]...)
	f = k.own(out, true)
	f.loose = rest > i+1
	return f, q, nil
}

// own is the field of a value in k.buf.
func (k *tokenizer) own(out []byte, quoted bool) field {
	n := len(out)
	k.buf = append(out, make([]byte, pad)...)
	return field{src: k.buf, hi: n, quoted: quoted}
}

// escaped reads a field of the text format whose first backslash is at q.
func (k *tokenizer) escaped(b []byte, p, q, end int) (field, int) {
	out := append(k.buf[:0], b[p:q]...)
	for b[q] == '\\' && q+1 < end-1 {
		q++
		c := b[q]
		q++
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case 'x':
			if v, n := digits(b[q:end-1], 16, 2); n > 0 {
				c, q = v, q+n
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := digits(b[q-1:end-1], 8, 3)
			c, q = v, q-1+n
		}
		out = append(out, c)
		next, _ := scanText(b, q, &k.s)
		out = append(out, b[q:next]...)
		q = next
	}
	hi := q
	if b[q] == '\\' { // the last character of the file
		out = append(out, '\\')
		q++
		hi = q
	} else {
		hi = k.trimCR(b, p, q)
		out = out[:len(out)-(q-hi)]
	}
	f := k.own(out, false)
	f.null = string(b[p:hi]) == k.d.null // compared as written
	return f, q
}

// digits reads up to n digits of a base.
func digits(b []byte, base, n int) (v byte, used int) {
	for used < n && used < len(b) {
		i := strings.IndexByte("0123456789abcdef", b[used]|0x20)
		if b[used] < 'A' {
			i = int(b[used]) - '0'
		}
		if i < 0 || i >= base {
			break
		}
		v = v*byte(base) + byte(i)
		used++
	}
	return v, used
}

// rowEnd checks that a row ends at q, where a field ends, and is the beginning of the next
// row; -1 if more fields follow. One more delimiter is accepted, as .tbl files have it.
func (d *dialect) rowEnd(b []byte, q int) int {
	if b[q] == d.nl {
		return q + 1
	}
	if b[q] == d.delim {
		q++
	}
	switch {
	case b[q] == d.nl:
		return q + 1
	case b[q] == '\r' && b[q+1] == '\n' && d.nl == '\n':
		return q + 2
	}
	return -1
}

// blank is the beginning of the next row if this one is empty, else p.
func (d *dialect) blank(b []byte, p int) int {
	if b[p] == d.nl {
		return p + 1
	}
	if b[p] == '\r' && b[p+1] == '\n' && d.nl == '\n' {
		return p + 2
	}
	return p
}

// skip is the start of the row after a line that is none: an empty one, unless a row has only one
// column, and the one that ends data of the text format. Else it is p.
func (d *dialect) skip(b []byte, p int, multi bool) int {
	if multi {
		if q := d.blank(b, p); q > p {
			return q
		}
	}
	if d.text && b[p] == '\\' && b[p+1] == '.' {
		if q := d.blank(b, p+2); q > p+2 {
			return q
		}
	}
	return p
}

// row reads all fields of a row for a look at it: as strings, which are valid while b does not change.
func (k *tokenizer) row(b []byte, p, end int, out []sniffed) ([]sniffed, int, error) {
	for {
		f, q, err := k.field(b, p, end)
		if err != nil {
			return out, p, err
		}
		s := sniffed{quoted: f.quoted, loose: f.loose, null: f.null}
		if len(f.src) == len(b) && &f.src[0] == &b[0] { // in the sample, which stays
			s.text = unsafe.String(unsafe.SliceData(b[f.lo:]), f.hi-f.lo)
		} else {
			s.text = string(f.bytes())
		}
		out = append(out, s)
		if b[q] != k.d.delim {
			return out, q + 1, nil
		}
		p = q + 1
	}
}

// sniffed is a field of a sample.
type sniffed struct {
	text                string
	quoted, loose, null bool
}

func unterminated() error {
	return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "%s", errUnterminated.Error())
}
