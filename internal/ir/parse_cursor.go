package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cursor reads one line from left to right. Its methods are the words of the
// textual IR: each skips spaces, takes what it is named after, or returns an
// error with the line's number.
type cursor struct {
	p        *parser
	line     int
	rest     string
	sawQuote bool // the last name was quoted
}

func (c *cursor) errorf(format string, args ...any) error {
	return fmt.Errorf("ir: line %d: %s", c.line, fmt.Sprintf(format, args...))
}

func (c *cursor) space() { c.rest = strings.TrimLeft(c.rest, " \t\r") }

// accept takes a sign if it is next.
func (c *cursor) accept(sign string) bool {
	c.space()
	var ok bool
	c.rest, ok = strings.CutPrefix(c.rest, sign)
	return ok
}

func (c *cursor) expect(sign string) error {
	if !c.accept(sign) {
		return c.errorf("expected %q, found %q", sign, c.rest)
	}
	return nil
}

// end accepts the end of the line, or a remark.
func (c *cursor) end() error {
	c.space()
	if c.rest != "" && c.rest[0] != ';' {
		return c.errorf("unexpected %q", c.rest)
	}
	return nil
}

// until takes everything before the first of the stop bytes.
func (c *cursor) until(stops string) string {
	c.space()
	word := c.rest
	if i := strings.IndexAny(c.rest, stops); i >= 0 {
		word = c.rest[:i]
	}
	c.rest = c.rest[len(word):]
	return strings.TrimRight(word, "\r")
}

// int takes a decimal number of so many bits.
func (c *cursor) int(bits int) (int64, error) {
	c.space()
	n := 0
	for n < len(c.rest) && (c.rest[n] >= '0' && c.rest[n] <= '9' || n == 0 && c.rest[n] == '-') {
		n++
	}
	if n == 0 || c.rest[:n] == "-" {
		return 0, c.errorf("expected a number, found %q", c.rest)
	}
	i, err := strconv.ParseInt(c.rest[:n], 10, bits)
	if err != nil {
		return 0, c.errorf("number %s does not fit in %d bits", c.rest[:n], bits)
	}
	c.rest = c.rest[n:]
	return i, nil
}

// parseUint is stricter than strconv.ParseUint: no sign, digits only.
func parseUint(s string, bits int) (uint64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(s, 10, bits)
}

// float takes a decimal float, or a NaN by its bits.
func (c *cursor) float() (int64, error) {
	word := c.until(" \t,;")
	if hex, ok := strings.CutPrefix(word, nanPrefix); ok {
		bits, err := strconv.ParseUint(hex, 16, 64)
		if err != nil || !math.IsNaN(math.Float64frombits(bits)) {
			return 0, c.errorf("%q has not the bits of a NaN", word)
		}
		return int64(bits), nil
	}
	x, err := strconv.ParseFloat(word, 64)
	// Which NaN the word "NaN" would mean is not said.
	if err != nil || math.IsNaN(x) {
		return 0, c.errorf("%q is not a float", word)
	}
	return int64(math.Float64bits(x)), nil
}

// name takes an identifier or a quoted string; it may be empty.
func (c *cursor) name() (string, error) {
	c.space()
	c.sawQuote = strings.HasPrefix(c.rest, `"`)
	if c.sawQuote {
		return c.quoted()
	}
	n := 0
	for n < len(c.rest) && nameByte(c.rest[n]) {
		n++
	}
	name := c.rest[:n]
	if name != "" && !plainName(name) {
		return "", c.errorf("%q is not a name", name)
	}
	c.rest = c.rest[n:]
	return name, nil
}

func (c *cursor) quoted() (string, error) {
	prefix, err := strconv.QuotedPrefix(c.rest)
	if err != nil {
		return "", c.errorf("bad quotes in %q", c.rest)
	}
	s, err := strconv.Unquote(prefix)
	if err != nil {
		return "", c.errorf("bad quotes in %q", c.rest)
	}
	c.rest = c.rest[len(prefix):]
	return s, nil
}

// acceptCtx takes the context register. Another register may have its name, but
// then a number follows.
func (c *cursor) acceptCtx() bool {
	c.space()
	rest, ok := strings.CutPrefix(c.rest, ctxName)
	if !ok || rest != "" && (nameByte(rest[0]) || rest[0] == '#') {
		return false
	}
	c.rest = rest
	return true
}

// numbered takes name#number.
func (c *cursor) numbered() (string, Reg, error) {
	name, err := c.name()
	if err != nil {
		return "", 0, err
	}
	if !strings.HasPrefix(c.rest, "#") {
		return "", 0, c.errorf("expected a register, found %q", name+c.rest)
	}
	c.rest = c.rest[1:]
	n, err := c.int(32)
	if err == nil && n < 0 {
		err = c.errorf("register number %d is negative", n)
	}
	return name, Reg(n), err
}

// reg takes a register that is used here and declared anywhere.
func (c *cursor) reg() (Reg, error) {
	if c.acceptCtx() {
		return Ctx, nil
	}
	name, r, err := c.numbered()
	if err != nil {
		return 0, err
	}
	if r == Ctx {
		return 0, c.errorf("register 0 is written %s", ctxName)
	}
	s := c.p.regs[r]
	if s == nil {
		s = &regSight{info: RegInfo{Name: name}, line: c.line}
		c.p.regs[r] = s
	}
	if s.info.Name != name {
		return 0, c.errorf("register %d is called %q here and %q in line %d", r, name, s.info.Name, s.line)
	}
	return r, nil
}

// declare takes name#number:type.
func (c *cursor) declare() (Reg, error) {
	name, r, err := c.numbered()
	if err != nil {
		return 0, err
	}
	if err := c.expect(":"); err != nil {
		return 0, err
	}
	word := c.until(" \t;")
	t := indexOf(typeNames[:], word)
	if t < 0 {
		return 0, c.errorf("unknown type %q", word)
	}
	info := RegInfo{Name: name, Type: Type(t)}
	s := c.p.regs[r]
	switch {
	case s == nil:
		c.p.regs[r] = &regSight{info: info, declared: true, line: c.line}
	case s.info.Name != name || s.declared && s.info != info:
		return 0, c.errorf("register %d is %q here and something else in line %d", r, name, s.line)
	default:
		s.info, s.declared = info, true
	}
	return r, nil
}

// val takes an operand.
func (c *cursor) val(kind slot) (Val, error) {
	c.space()
	if kind == fltBits {
		bits, err := c.float()
		return K(bits), err
	}
	if kind == special {
		for i, name := range specialNames {
			if c.accept(name) {
				return K(int64(i)), nil
			}
		}
	}
	if c.rest != "" && (c.rest[0] == '-' || c.rest[0] >= '0' && c.rest[0] <= '9') {
		i, err := c.int(64)
		return K(i), err
	}
	r, err := c.reg()
	return r.V(), err
}

// mem takes [base + index*scale + disp] with any of the three left out.
func (c *cursor) mem() (Mem, error) {
	m := Mem{Base: NoReg, Index: NoReg, Scale: 1}
	for s := Shared; s <= Local; s++ {
		if c.accept(spaceNames[s] + "[") {
			m.Space = s
			break
		}
	}
	if m.Space == Global {
		if err := c.expect("["); err != nil {
			return m, err
		}
	}
	sign := int64(1)
	for first := true; ; first = false {
		if !first {
			switch {
			case c.accept("]"):
				return m, nil
			case c.accept("+"):
				sign = 1
			case c.accept("-"):
				sign = -1
			default:
				return m, c.errorf("expected + or - or ], found %q", c.rest)
			}
		}
		done, err := c.memTerm(&m, sign, first)
		if err != nil {
			return m, err
		}
		if done {
			return m, c.expect("]")
		}
	}
}

// memTerm takes one term; the displacement is the last one.
func (c *cursor) memTerm(m *Mem, sign int64, first bool) (done bool, err error) {
	c.space()
	if c.rest != "" && (c.rest[0] >= '0' && c.rest[0] <= '9' || first && c.rest[0] == '-') {
		n, err := c.int(64)
		if err != nil {
			return false, err
		}
		if m.Disp = int32(sign * n); int64(m.Disp) != sign*n {
			return false, c.errorf("displacement %d does not fit in 32 bits", sign*n)
		}
		return true, nil
	}
	if sign < 0 {
		return false, c.errorf("expected a number after -, found %q", c.rest)
	}
	r, err := c.reg()
	if err != nil {
		return false, err
	}
	switch {
	case c.accept("*"):
		if m.Index != NoReg {
			return false, c.errorf("two indexes in one address")
		}
		n, err := c.int(64)
		if err != nil {
			return false, err
		}
		if n < 0 || n > 255 {
			return false, c.errorf("scale %d does not fit in 8 bits", n)
		}
		m.Index, m.Scale = r, uint8(n)
	case m.Base != NoReg || m.Index != NoReg:
		return false, c.errorf("the base comes first and alone in an address")
	default:
		m.Base = r
	}
	return false, nil
}
