package x64

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// line is one line of a listing: an instruction, or a comment when end is off.
type line struct {
	off, end int32
	jump     bool // text is completed by the target
	text     string
}

func (a *asm) record(start int, text string) {
	a.lines = append(a.lines, line{off: int32(start), end: int32(a.n), text: text})
}

func (a *asm) recordJump(start int, c cc) {
	text := "jmp"
	if c != ccAlways {
		text = "j" + ccNames[c]
	}
	a.lines = append(a.lines, line{off: int32(start), end: int32(a.n), jump: true, text: text})
}

func (a *asm) comment(text string) {
	a.lines = append(a.lines, line{off: int32(a.n), end: int32(a.n), text: text})
}

var names64 = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"}
var names32 = [16]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"}
var names16 = [16]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
var names8 = [16]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"}

func (r reg) name(k kind) string {
	switch k {
	case kX, kY, kZ, kK:
		return [...]string{"xmm", "ymm", "zmm", "k"}[k-kX] + strconv.Itoa(int(r))
	}
	if r < 8 {
		return [...]*[16]string{&names64, &names32, &names16, &names8}[k][r]
	}
	return "r" + strconv.Itoa(int(r)) + [...]string{"", "d", "w", "b"}[k]
}

var sizeNames = map[uint8]string{1: "byte", 2: "word", 4: "dword", 8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}

// indexKind is what an index register is.
func (f *form) indexKind() kind {
	if f.vsib {
		return f.rk
	}
	return k64
}

// maskText adds the mask to the first operand.
func maskText(text string, mask byte) string {
	if mask == 0 {
		return text
	}
	k := "{k" + strconv.Itoa(int(mask&7)) + "}"
	if mask&0x80 != 0 {
		k += "{z}"
	}
	return strings.Replace(text, ",", k+",", 1)
}

func (a *asm) memText(m mem, index kind) string {
	if m.base == rip {
		return fmt.Sprintf("[const %#x]", a.pool[m.disp])
	}
	s := "[" + m.base.name(k64)
	if m.index != noReg {
		s += "+" + m.index.name(index)
		if m.shift > 0 {
			s += "*" + strconv.Itoa(1<<m.shift)
		}
	}
	if m.disp > 0 {
		s += "+"
	}
	if m.disp != 0 {
		s += strconv.Itoa(int(m.disp))
	}
	return s + "]"
}

func (f *form) textR(r, v, rm reg, imm int64) string {
	return f.text(r, v, rm.name(f.mk), imm)
}

// textM writes the operand's size where no register tells it.
func (f *form) textM(r, v reg, m string, imm int64) string {
	same := f.rk == f.mk && f.mk != kX || f.msz == 16 || f.msz == 8 && f.rk == kX
	if f.shape == shM || f.shape == shMI || !same {
		m = sizeNames[f.msz] + " " + m
	}
	return f.text(r, v, m, imm)
}

func (f *form) text(r, v reg, rm string, imm int64) string {
	if f.imm > 0 && f.imm < 8 && f.w == 0 && f.mk < kX {
		imm &= 1<<(8*f.imm) - 1
	}
	name := f.name
	if f.lock {
		name = "lock " + name
	}
	rn, vn, in := r.name(f.rk), v.name(f.vk), strconv.FormatInt(imm, 10)
	if f.pred {
		return "vpcmp" + predNames[imm] + strings.TrimPrefix(name, "vpcmp") + " " + rn + "," + vn + "," + rm
	}
	switch f.shape {
	case shRM:
		return name + " " + rn + "," + rm
	case shMR:
		return name + " " + rm + "," + rn
	case shM:
		return name + " " + rm
	case shMI:
		return name + " " + rm + "," + in
	case shRMI:
		return name + " " + rn + "," + rm + "," + in
	case shVRM:
		return name + " " + rn + "," + vn + "," + rm
	case shVRMI:
		return name + " " + rn + "," + vn + "," + rm + "," + in
	case shVRMR:
		return name + " " + rn + "," + vn + "," + rm + "," + reg(imm>>4).name(kX)
	case shRMV:
		return name + " " + rn + "," + rm + "," + vn
	case shO:
		return name + " " + rn
	case shOI:
		return name + " " + rn + "," + in
	case shVM:
		return name + " " + vn + "," + rm
	case shVMI:
		return name + " " + vn + "," + rm + "," + in
	}
	return name
}

// listingOf writes code with its lines: offset, bytes, text. Offsets count from the
// function's start, so that the text does not depend on where the code lies.
func (a *asm) listingOf(name string, code []byte, coldAt, poolAt int) string {
	var w strings.Builder
	fmt.Fprintf(&w, "; %s\n", name)
	section := func(lines []line, base int) {
		for _, l := range lines {
			off, end := base+int(l.off), base+int(l.end)
			if off == end {
				fmt.Fprintf(&w, "; %s\n", l.text)
				continue
			}
			text := l.text
			if l.jump {
				target := end
				if end-off == 2 {
					target += int(int8(code[end-1]))
				} else {
					target += int(int32(binary.LittleEndian.Uint32(code[end-4:])))
				}
				if head, ok := strings.CutSuffix(text, "[rip]"); ok {
					text = fmt.Sprintf("%s[%04x]", head, target)
				} else {
					text = fmt.Sprintf("%s %04x", text, target)
				}
			}
			fmt.Fprintf(&w, "%04x  %-22x %s\n", off, code[off:end], text)
		}
	}
	section(a.lines, 0)
	if a.other.n > 0 {
		w.WriteString("; -- cold --\n")
		section(a.other.lines, coldAt)
	}
	if len(a.pool) > 0 {
		w.WriteString("; -- constants --\n")
		for i, c := range a.pool {
			fmt.Fprintf(&w, "%04x  %-22x %#x\n", poolAt+8*i, code[poolAt+8*i:poolAt+8*i+8], c)
		}
	}
	return w.String()
}
