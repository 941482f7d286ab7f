package x64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/x64/irtest"
)

// world is the memory of a test: a context block, its data, and the save area,
// which the interpreter does not have.
type world struct {
	mem  []byte
	save []byte
}

const (
	dataAt = 64 // in a test's context block, behind the words known to translators
	memLen = 4096
)

func newWorld() *world {
	return &world{mem: make([]byte, memLen), save: make([]byte, 1<<16)}
}

func (w *world) base() uint64 { return uint64(uintptr(unsafe.Pointer(&w.mem[0]))) }

func (w *world) put(off int, v int64) { binary.LittleEndian.PutUint64(w.mem[off:], uint64(v)) }

// compareRuns runs f by the interpreter and by generated code on the same memory,
// through all yields, and reports differences and the number of calls. floats are
// offsets of words in which any NaN equals any other.
func compareRuns(w *world, f *ir.Func, c *Code, floats map[int]bool) (steps int, diff error) {
	binary.LittleEndian.PutUint64(w.mem[ir.CtxResume:], 0)
	binary.LittleEndian.PutUint64(w.mem[ir.CtxSave:], uint64(uintptr(unsafe.Pointer(&w.save[0]))))
	if c.SaveBytes() > len(w.save) {
		return 0, fmt.Errorf("save area of %d bytes", c.SaveBytes())
	}
	shadow := bytes.Clone(w.mem)
	m, err := irtest.New(f, shadow, w.base(), w.base())
	if err != nil {
		return 0, err
	}
	for {
		want, err := m.Run()
		if err != nil {
			return 0, fmt.Errorf("interpreter: %w", err)
		}
		got := c.Call(unsafe.Pointer(&w.mem[0]))
		steps++
		if got != want {
			return 0, fmt.Errorf("status %d, want %d", got, want)
		}
		// A yield leaves a resume address, and scribbled frames must not matter.
		yielded := word(w.mem, ir.CtxResume) != 0
		for off := dataAt; off < memLen; off += 8 {
			g, s := word(w.mem, off), word(shadow, off)
			if g == s || floats[off] && isNaN(g) && isNaN(s) {
				continue
			}
			return 0, fmt.Errorf("word at %d is %#x, want %#x", off, g, s)
		}
		if !yielded {
			return steps, nil
		}
		scribble()
	}
}

func word(b []byte, off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
func isNaN(v uint64) bool           { return math.IsNaN(math.Float64frombits(v)) }

// scribble overwrites the stack below, where the trampoline's frame was.
//
//go:noinline
func scribble() {
	var a [512]uint64
	for i := range a {
		a[i] = 0xdeadbeefdeadbeef
	}
	sink = a[len(sinkKeep)]
}

var (
	sink     uint64
	sinkKeep [3]byte
)

func mustTranslate(t testing.TB, f *ir.Func) *Code {
	t.Helper()
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	c, err := TranslateWith(f, Options{Listing: testing.Verbose()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Free)
	return c
}
