package simt

// ptype is a PTX type: its class in the upper half, its bytes in the lower.
type ptype uint8

const (
	typeB ptype = 0x10 << iota
	typeU
	typeS
	typeF
	typeNone ptype = 0
	typePred ptype = 0x0f
)

var typeNames = map[string]ptype{
	"b8": typeB | 1, "b16": typeB | 2, "b32": typeB | 4, "b64": typeB | 8,
	"u8": typeU | 1, "u16": typeU | 2, "u32": typeU | 4, "u64": typeU | 8,
	"s8": typeS | 1, "s16": typeS | 2, "s32": typeS | 4, "s64": typeS | 8,
	"f32": typeF | 4, "f64": typeF | 8,
	"pred": typePred,
}

func (t ptype) bytes() int    { return int(t & 0x0f) }
func (t ptype) bits() int     { return 8 * t.bytes() }
func (t ptype) class() ptype  { return t & 0xf0 }
func (t ptype) signed() bool  { return t.class() == typeS }
func (t ptype) isFloat() bool { return t.class() == typeF }
func (t ptype) isInt() bool   { return t.class() == typeU || t.class() == typeS }

// mask has the bits of the type.
func (t ptype) mask() uint64 { return ^uint64(0) >> (64 - t.bits()) }

func (t ptype) String() string {
	for n, u := range typeNames {
		if u == t {
			return "." + n
		}
	}
	return ".?"
}

// accepts reports whether a register of type reg may stand where an instruction
// wants t: the same size, and a class that agrees (signs do not matter, untyped
// bits fit everywhere).
func (t ptype) accepts(reg ptype) bool {
	if t == typePred || reg == typePred {
		return t == reg
	}
	if t.bytes() != reg.bytes() {
		return false
	}
	return t.class() == typeB || reg.class() == typeB || t.isFloat() == reg.isFloat()
}

// acceptsWider is the relaxed rule of ld, st and cvt: integers and untyped bits
// may sit in a wider register.
func (t ptype) acceptsWider(reg ptype) bool {
	if t == typePred || reg == typePred {
		return false
	}
	if t.isFloat() {
		return t.accepts(reg)
	}
	if t.class() == typeB && reg.isFloat() {
		return t.bytes() == reg.bytes()
	}
	return !reg.isFloat() && reg.bytes() >= t.bytes()
}
