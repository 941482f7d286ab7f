package x64

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// toucher reads the word whose address stands in its context, or writes it.
func toucher(write bool) *ir.Func {
	b := ir.NewFunc("touch", ir.CPU)
	p, v := b.Vreg("p", ir.I64), b.Vreg("v", ir.I64)
	b.Load8(p, ir.At(ir.Ctx, dataAt))
	if write {
		b.Store(ir.At(p, 0), ir.K(1), 8)
		b.Mov(v, ir.K(0))
	} else {
		b.Load8(v, ir.At(p, 0))
	}
	b.Store(ir.At(ir.Ctx, dataAt+8), v.V(), 8)
	b.Clear(p, v)
	return b.F
}

// TestWildAddresses: generated code that reads or writes any address which it must not ends in a panic that is
// recovered, not in the end of the process, which is another one here.
func TestWildAddresses(t *testing.T) {
	if os.Getenv("KELPIE_WILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWildAddresses$", "-test.v")
		cmd.Env = append(os.Environ(), "KELPIE_WILD=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	page := func(prot int) uintptr {
		b, err := syscall.Mmap(-1, 0, 4096, prot, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	}
	truncated := func() uintptr { // a file's page behind its end: SIGBUS
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(4096); err != nil {
			t.Fatal(err)
		}
		b, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	}()
	read, write := mustTranslate(t, toucher(false)), mustTranslate(t, toucher(true))
	for _, c := range []struct {
		name     string
		addr     uintptr
		readable bool
	}{
		{"nil", 0, false},
		{"nil page", 4088, false},
		{"low", 1 << 16, false},
		{"unmapped", 0x1000_0000_0000, false},
		{"non-canonical", 1 << 62, false},
		{"non-canonical, first", 1 << 47, false},
		{"kernel", 0xffff_8000_0000_0000, false},
		{"last", ^uintptr(0) - 7, false},
		{"across the end", ^uintptr(0) - 2, false},
		{"no access", page(syscall.PROT_NONE), false},
		{"read-only", page(syscall.PROT_READ), true},
		{"own code", read.entry &^ 7, true},
		{"truncated file", truncated, false},
	} {
		for range 100 {
			for code, faults := range map[*Code]bool{read: !c.readable, write: true} {
				if got := touch(code, c.addr); got != faults {
					t.Fatalf("%s (%#x), write %v: a fault: %v", c.name, c.addr, code == write, got)
				}
			}
		}
		runtime.GC()
	}
	if debug.SetPanicOnFault(false) {
		t.Error("the goroutine's setting was not restored")
	}
	fmt.Println("all were recovered")
}

// touch reports that code faults at an address.
func touch(code *Code, addr uintptr) (fault bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(runtime.Error); !ok {
				panic(r)
			}
			fault = true
		}
	}()
	w := newWorld()
	w.put(dataAt, int64(addr))
	code.Call(unsafe.Pointer(&w.mem[0]))
	return false
}
