package x64

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files in testdata")

// row is one encoded instruction and what it should mean, sizes written out.
type row struct {
	inst inst
	text string
	code []byte
}

func (f *form) fullM(a *asm, r, v reg, m mem, imm int64) string {
	s := a.memText(m, f.indexKind())
	if f.name != "lea" {
		s = sizeNames[f.msz] + " " + s
	}
	return f.text(r, v, s, imm)
}

var testImms = map[uint8][]int64{0: {0}, 1: {5, -128}, 2: {0x1234}, 4: {0x12345678, -2}, 8: {0x123456789abcdef0, -1 << 40}}

// immsOf avoids what a form's users never write.
func immsOf(i inst) []int64 {
	switch f := &forms[i]; {
	case f.pred:
		return []int64{predEQ, predLT, predLE, predNE, predGE, predGT}
	case f.evex || f.mk >= kX && f.imm == 1 && f.shape == shRMI:
		return []int64{1, 5}
	case i == iAND32i8 || f.shape == shVRMI || i == iSHL || i == iSHR || i == iSAR:
		return []int64{5, 9}
	case f.shape == shVRMR:
		return []int64{13 << 4, 2 << 4}
	case f.imm == 4 && f.w == 0:
		return []int64{0x12345678, 0xfffffffe}
	default:
		return testImms[f.imm]
	}
}

// allRows encodes every form: all pairs of registers, all bases, indexes, scales
// and sizes of displacement. few keeps a handful per form, for the golden file.
func allRows(few bool) (rows []row) {
	a := new(asm)
	emit := func(i inst, text string, write func()) {
		a.n = 0
		a.room(64)
		write()
		rows = append(rows, row{i, text, bytes.Clone(a.b[:a.n])})
	}
	for i := range numForms {
		f := &forms[i]
		if f.shape == shNone {
			emit(i, f.name, func() { a.ins0(i) })
			continue
		}
		onlyRM := f.shape == shM || f.shape == shMI || f.shape == shO || f.shape == shOI
		memOnly := f.lock || f.vsib || i == iXCHG || i == iPREFETCH || i == iLEA || i == iVMOVSDld || i == iVMOVSDst || i == iVMOVSSst
		n := 0
		for r := range regsOf(f, f.rk) {
			for rm := range regsOf(f, f.mk) {
				if memOnly || onlyRM && r > 0 || few && (int(r)*7+int(rm)*5+int(i))%83 != 0 {
					continue
				}
				imms := immsOf(i)
				imm := imms[n%len(imms)]
				n++
				v := (r*3 + rm) & (regsOf(f, f.vk) - 1)
				mask := maskOf(f, n)
				if f.shape == shO || f.shape == shOI {
					emit(i, f.textR(rm, v, rm, imm), func() { a.insR(i, rm, v, rm, imm) })
				} else {
					emit(i, maskText(f.textR(r, v, rm, imm), mask), func() { a.mask = mask; a.insR(i, r, v, rm, imm) })
				}
			}
		}
		if f.msz == 0 {
			continue
		}
		disps := []int32{0, 8, 127, 128, -128, -129, 0x123456}
		if f.evex {
			disps = append(disps, 64, 127*64, 128*64, -128*64, 48)
		}
		for base := range reg(16) {
			for index := range reg(17) {
				for k, disp := range disps {
					if index == rsp || few && (int(base)*17+int(index)*31+k*7+int(i)*3)%397 != 0 {
						continue
					}
					m := mem{base, index, uint8(int(index)+k) & 3, disp}
					if index == 16 {
						m.index, m.shift = noReg, 0
					} else if !few && k != int(base*3+index)%len(disps) {
						continue
					}
					imms := immsOf(i)
					imm := imms[n%len(imms)]
					n++
					r := (base*5 + index + reg(k)) & (regsOf(f, f.rk) - 1)
					v := (r + 3) & (regsOf(f, f.vk) - 1)
					mask := maskOf(f, n)
					if f.vsib { // any vector is an index, but not the one that is written
						if index == 16 {
							continue
						}
						if m.index = (index + reg(k)*16) & 31; m.index == r {
							continue
						}
					}
					emit(i, maskText(f.fullM(a, r, v, m, imm), mask), func() { a.mask = mask; a.insM(i, r, v, m, imm) })
				}
			}
		}
	}
	return rows
}

// regsOf is how many registers of a kind the form can name.
func regsOf(f *form, k kind) reg {
	switch {
	case k == kK:
		return 8
	case k >= kX && f.evex:
		return 32
	}
	return 16
}

// maskOf is a mask for the n-th row of a form. Gathers must have one; what writes a
// mask does not know zeroing.
func maskOf(f *form, n int) byte {
	k := byte(n % 8)
	if !f.evex || f.shape == shRM && f.rk == kK {
		return 0
	}
	if f.vsib {
		return k%7 + 1
	}
	if k != 0 && n%3 == 0 && f.rk != kK {
		k |= 0x80
	}
	return k
}

var (
	hexNumber  = regexp.MustCompile(`0x[0-9a-f]+`)
	timesOne   = regexp.MustCompile(`\*1([\]+-])`)
	scaleFirst = regexp.MustCompile(`([248])\*(r\w+)`)
	spaces     = regexp.MustCompile(`\s+`)
)

// normal brings a disassembler's text to our spelling.
func normal(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.ReplaceAll(s, " ptr ", " ")
	s = hexNumber.ReplaceAllStringFunc(s, func(h string) string {
		u, _ := strconv.ParseUint(h[2:], 16, 64)
		return strconv.FormatInt(int64(u), 10)
	})
	s = timesOne.ReplaceAllString(s, "$1")
	s = scaleFirst.ReplaceAllString(s, "$2*$1")
	s = strings.ReplaceAll(s, "+0]", "]")
	s = spaces.ReplaceAllString(s, " ")
	return strings.ReplaceAll(s, ", ", ",")
}

func TestFormsGolden(t *testing.T) {
	var w strings.Builder
	for _, r := range allRows(true) {
		fmt.Fprintf(&w, "%-50s %x\n", r.text, r.code)
	}
	golden(t, "forms.txt", w.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, x := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(x)) {
		if i >= len(g) || i >= len(x) || g[i] != x[i] {
			t.Fatalf("%s:%d differs (run with -rewrite if that is right)\ngot  %s\nwant %s", path, i+1, at0(g, i), at0(x, i))
		}
	}
}

func at0(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return "(end)"
}

// TestFormsX86asm checks what golang.org/x/arch can decode: the instructions
// without a VEX prefix, and not all of those.
func TestFormsX86asm(t *testing.T) {
	checked := map[inst]bool{}
	for _, r := range allRows(false) {
		if f := &forms[r.inst]; f.vex || f.evex || r.inst == iLZCNT || r.inst == iTZCNT {
			continue
		}
		d, err := x86asm.Decode(r.code, 64)
		if err != nil {
			t.Fatalf("%s % x: %v", r.text, r.code, err)
		}
		got := bigDisp.ReplaceAllStringFunc(normal(x86asm.IntelSyntax(d, 0, nil)), func(s string) string {
			u, _ := strconv.ParseUint(s[1:len(s)-1], 10, 64) // it forgets the sign of a long displacement
			return strconv.Itoa(int(int32(u))) + "]"
		})
		if d.Len != len(r.code) || got != x86asmName(normal(r.text)) {
			t.Fatalf("% x is %q (%d bytes), want %q", r.code, got, d.Len, x86asmName(normal(r.text)))
		}
		checked[r.inst] = true
	}
	t.Logf("%d forms checked", len(checked))
}

var bigDisp = regexp.MustCompile(`\+429496\d\d\d\d\]`)

// x86asmName undoes differences of taste.
func x86asmName(s string) string {
	s = strings.NewReplacer("setae ", "setnb ", "cmovae ", "cmovnb ", "sete ", "setz ", "setne ", "setnz ",
		"cmove ", "cmovz ", "cmovne ", "cmovnz ", "setg ", "setnle ", "cmovg ", "cmovnle ", "setge ", "setnl ", "cmovge ", "cmovnl ",
		"seta ", "setnbe ", "cmova ", "cmovnbe ", "4294967294", "-2", "prefetcht0 byte", "prefetcht0 zmmword").Replace(s)
	return strings.Replace(s, "movabs ", "mov ", 1)
}

// TestFormsObjdump checks every form with binutils.
func TestFormsObjdump(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("no objdump")
	}
	rows := allRows(testing.Short())
	var code []byte
	for _, r := range rows {
		code = append(code, r.code...)
	}
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--insn-width=16", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) < 3 {
			continue
		}
		if i == len(rows) {
			t.Fatalf("more instructions than written: %s", line)
		}
		r := rows[i]
		b, _ := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(parts[1]), " ", ""))
		if got, want := normal(parts[2]), normal(r.text); got != want || !bytes.Equal(b, r.code) {
			t.Fatalf("% x (% x) is %q, want %q", r.code, b, got, want)
		}
		i++
	}
	if i != len(rows) {
		t.Fatalf("%d instructions of %d", i, len(rows))
	}
	t.Logf("%d instructions of %d forms", len(rows), numForms)
}
