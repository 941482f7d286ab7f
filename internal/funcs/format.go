package funcs

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// directive is one %… of a format: %[position$][-][width]type, where the width may be *, the next argument, or *n$.
type directive struct {
	arg        int // from 1; 0: the next one
	left       bool
	width      int64
	widthArg   int // -1: the next one; 0: none
	conversion byte
}

// formatting reads the directives of a format one after the other.
type formatting struct {
	rest string
	args []types.Value // without the format
	next int
}

// lead gives the text up to the next directive; ok is false if there is none.
func (f *formatting) lead() (lead string, d directive, ok bool, err error) {
	i := strings.IndexByte(f.rest, '%')
	if i < 0 {
		lead, f.rest = f.rest, ""
		return lead, d, false, nil
	}
	lead, f.rest = f.rest[:i], f.rest[i+1:]
	if d, err = f.directive(); err != nil {
		return lead, d, false, err
	}
	return lead, d, true, nil
}

func (f *formatting) number() (n int64, ok bool, err error) {
	for f.rest != "" && f.rest[0] >= '0' && f.rest[0] <= '9' {
		if n = 10*n + int64(f.rest[0]-'0'); n > 1<<31-1 {
			return 0, false, errorf(diag.NumericOutOfRange, "number is out of range")
		}
		f.rest, ok = f.rest[1:], true
	}
	return n, ok, nil
}

// accept skips a byte.
func (f *formatting) accept(c byte) bool {
	if f.rest != "" && f.rest[0] == c {
		f.rest = f.rest[1:]
		return true
	}
	return false
}

func (f *formatting) directive() (d directive, err error) {
	n, have, err := f.number()
	if err != nil {
		return d, err
	}
	switch {
	case have && f.accept('$'):
		if n == 0 {
			return d, errorf(diag.InvalidParameter, "format specifies argument 0, but arguments are numbered from 1")
		}
		d.arg, have, n = int(n), false, 0
	}
	if !have {
		for f.accept('-') {
			d.left = true
		}
		if f.accept('*') {
			n, have, err = f.number()
			switch {
			case err != nil:
				return d, err
			case !have:
				d.widthArg = -1
			case !f.accept('$'):
				return d, errorf(diag.InvalidParameter, "width argument position must be ended by \"$\"")
			case n == 0:
				return d, errorf(diag.InvalidParameter, "format specifies argument 0, but arguments are numbered from 1")
			default:
				d.widthArg = int(n)
			}
			n = 0
		} else if n, _, err = f.number(); err != nil {
			return d, err
		}
	}
	d.width = n
	if f.rest == "" {
		return d, errorf(diag.InvalidParameter, "unterminated format() type specifier")
	}
	d.conversion = f.rest[0]
	switch d.conversion {
	case 's', 'I', 'L', '%':
		f.rest = f.rest[1:]
		return d, nil
	}
	r, _ := utf8.DecodeRuneInString(f.rest)
	return d, errorf(diag.InvalidParameter, "unrecognized format() type specifier %q", string(r))
}

// argument is the n-th, or the next one.
func (f *formatting) argument(n int) (types.Value, error) {
	if n <= 0 {
		f.next++
		n = f.next
	} else {
		f.next = n
	}
	if n > len(f.args) {
		return types.Value{}, errorf(diag.InvalidParameter, "too few arguments for format()")
	}
	return f.args[n-1], nil
}

// widthOf is the width of a directive, negative for one to the left.
func (f *formatting) widthOf(d directive) (int64, error) {
	w := d.width
	if d.widthArg != 0 {
		v, err := f.argument(d.widthArg)
		if err != nil {
			return 0, err
		}
		if !v.Null {
			if v, err = types.Cast(v, types.TInt32); err != nil {
				return 0, err
			}
			w = v.I
		}
	}
	if d.left && w > 0 {
		w = -w
	}
	return w, nil
}

// format is format(text, …).
func format(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	f := formatting{rest: a[0].S, args: a[1:]}
	var b strings.Builder
	for {
		lead, d, ok, err := f.lead()
		b.WriteString(lead)
		switch {
		case err != nil:
			return types.Value{}, err
		case !ok:
			return text(b.String())
		case d.conversion == '%':
			b.WriteByte('%')
			continue
		}
		width, err := f.widthOf(d)
		if err != nil {
			return types.Value{}, err
		}
		v, err := f.argument(d.arg)
		if err != nil {
			return types.Value{}, err
		}
		s := ""
		switch {
		case v.Null && d.conversion == 'I':
			return fail(diag.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
		case v.Null && d.conversion == 'L':
			s = "NULL"
		case v.Null:
		case d.conversion == 'I':
			s = quoteIdent(written(v))
		case d.conversion == 'L':
			s = quoteLiteral(written(v))
		default:
			s = written(v)
		}
		blanks := int(max(width, -width)) - utf8.RuneCountInString(s)
		if width > 0 {
			b.WriteString(strings.Repeat(" ", max(blanks, 0)))
		}
		b.WriteString(s)
		if width < 0 {
			b.WriteString(strings.Repeat(" ", max(blanks, 0)))
		}
	}
}

// written is a value as its type's output writes it: booleans are t and f.
func written(v types.Value) string {
	if v.Type.Kind == types.Bool {
		if v.I != 0 {
			return "t"
		}
		return "f"
	}
	return v.String()
}

// formatSize bounds the text by its widths; errors are left to format.
func formatSize(a []types.Value) int64 {
	if a[0].Null {
		return 0
	}
	n := int64(len(a[0].S))
	f := formatting{rest: a[0].S, args: a[1:]}
	for {
		_, d, ok, err := f.lead()
		if err != nil || !ok {
			return n
		}
		w, err := f.widthOf(d)
		if err != nil {
			return n
		}
		n += max(w, -w) + 64
		if d.conversion == '%' {
			continue
		}
		v, err := f.argument(d.arg)
		if err != nil {
			return n
		}
		n += 4 * int64(len(v.S)) // every character may have to be doubled, and be written for a literal
	}
}
