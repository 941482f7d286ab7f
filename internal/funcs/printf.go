package funcs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxPrintfWidth bounds widths and precisions.
const maxPrintfWidth = 1 << 16

// printfDirective is %-08.3f taken apart.
type printfDirective struct {
	flags       string
	width, prec int // -1: none
	verb        byte
}

// nextDirective cuts a text at its next directive; ok is false if there is none.
func nextDirective(s string) (lead string, d printfDirective, rest string, ok bool, err error) {
	lead, rest, ok = strings.Cut(s, "%")
	if !ok {
		return lead, d, "", false, nil
	}
	n := len(rest) - len(strings.TrimLeft(rest, "-+ #0"))
	d.flags, rest = rest[:n], rest[n:]
	number := func() int {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 0 {
			return -1
		}
		x, e := strconv.Atoi(rest[:n])
		if e != nil || x > maxPrintfWidth {
			err = errorf(diag.InvalidParameter, "a width of printf is too large")
		}
		rest = rest[n:]
		return x
	}
	d.width, d.prec = number(), -1
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		d.prec = max(number(), 0)
	}
	rest = strings.TrimLeft(rest, "lhqjzt") // sizes of C
	if rest == "" {
		return lead, d, "", false, errorf(diag.InvalidParameter, "the format of printf ends with an incomplete directive")
	}
	d.verb, rest = rest[0], rest[1:]
	return lead, d, rest, true, err
}

// printf writes values as C does; numbers of any type where the directive wants a number.
func printf(a []types.Value, _ types.Type) (types.Value, error) {
	var b strings.Builder
	args, rest := a[1:], a[0].S
	for {
		lead, d, more, ok, err := nextDirective(rest)
		b.WriteString(lead)
		if err != nil {
			return types.Value{}, err
		}
		if !ok {
			return text(b.String())
		}
		rest = more
		if d.verb == '%' {
			b.WriteByte('%')
			continue
		}
		if len(args) == 0 {
			return fail(diag.InvalidParameter, "too few arguments for printf")
		}
		s, err := d.write(args[0])
		if err != nil {
			return types.Value{}, err
		}
		b.WriteString(s)
		args = args[1:]
	}
}

// write is a value as the directive says.
func (d *printfDirective) write(v types.Value) (string, error) {
	form := "%" + d.flags
	if d.width >= 0 {
		form += strconv.Itoa(d.width)
	}
	if d.prec >= 0 {
		form += "." + strconv.Itoa(d.prec)
	}
	as := func(t types.Type) (types.Value, error) {
		if !v.Type.IsNumeric() && v.Type.Kind != types.Bool {
			return v, errorf(diag.DatatypeMismatch, "printf: %%%c wants a number, not %s", d.verb, v.Type.SQLName())
		}
		return types.Cast(v, t)
	}
	switch d.verb {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		n, err := as(types.TInt64)
		verb := d.verb
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		if verb == 'd' {
			return fmt.Sprintf(form+"d", n.I), err
		}
		if verb == 'c' {
			return fmt.Sprintf("%"+d.flags+"c", rune(n.I)), err
		}
		return fmt.Sprintf(form+string(verb), uint64(n.I)), err
	case 'f', 'F', 'e', 'E', 'g', 'G':
		x, err := as(types.TFloat64)
		if d.prec < 0 && d.verb != 'g' && d.verb != 'G' {
			form += ".6"
		}
		return fmt.Sprintf(form+string(d.verb), x.F), err
	case 's':
		return fmt.Sprintf(form+"s", v.String()), nil
	}
	return "", errorf(diag.InvalidParameter, "printf does not know %%%c", d.verb)
}

// printfSize bounds the text; errors are left to printf.
func printfSize(a []types.Value) int64 {
	n := int64(len(a[0].S))
	for _, v := range a[1:] {
		n += int64(len(v.S)) + 512
	}
	for rest, ok := a[0].S, true; ok; {
		var d printfDirective
		var err error
		if _, d, rest, ok, err = nextDirective(rest); err != nil {
			return n
		}
		n += int64(max(d.width, 0) + max(d.prec, 0))
	}
	return n
}
