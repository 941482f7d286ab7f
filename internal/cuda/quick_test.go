package cuda

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// fakeDriver compiles texts to words that tell how they were compiled, and has no device.
type fakeDriver struct {
	mu     sync.Mutex
	texts  map[uintptr]string
	how    map[uintptr]string
	images [][]byte
	linked []string
	fails  string // what is in a text that cannot be optimized
}

// compiler is that of a process with this driver.
func (f *fakeDriver) compiler(disk *Cache) *Compiler {
	f.texts, f.how = map[uintptr]string{}, map[uintptr]string{}
	next := uintptr(0)
	lib := library{
		setCurrent: func(uintptr) Code { return success },
		errorName:  func(Code, **byte) Code { return 1 },
		errorText:  func(Code, **byte) Code { return 1 },
		linkCreate: func(n uint32, options *int32, values *uintptr, state *uintptr) Code {
			f.mu.Lock()
			defer f.mu.Unlock()
			next++
			*state = next
			level, registers := uintptr(9), uintptr(0)
			for i, o := range unsafe.Slice(options, n) {
				switch v := unsafe.Slice(values, n)[i]; o {
				case optOptimization:
					level = v
				case optRegisters:
					registers = v
				}
			}
			f.how[next] = fmt.Sprintf("level %d, %d registers", level, registers)
			return success
		},
		linkAdd: func(state uintptr, _ int32, data unsafe.Pointer, bytes uint64, _ *byte, _ uint32, _ *int32, _ *uintptr) Code {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.texts[state] = string(unsafe.Slice((*byte)(data), bytes-1))
			return success
		},
		linkComplete: func(state uintptr, cubin *unsafe.Pointer, bytes *uint64) Code {
			f.mu.Lock()
			defer f.mu.Unlock()
			code := f.texts[state] + ": " + f.how[state]
			f.linked = append(f.linked, code)
			if f.fails != "" && strings.Contains(f.texts[state], f.fails) && !strings.Contains(code, "level 0") {
				return 1
			}
			image := []byte(code)
			f.images = append(f.images, image)
			*cubin, *bytes = unsafe.Pointer(&image[0]), uint64(len(image))
			return success
		},
		linkDestroy: func(uintptr) Code { return success },
		moduleLoad:  func(module *uintptr, _ unsafe.Pointer) Code { *module = 1; return success },
		moduleFunc:  func(fn *uintptr, _ uintptr, _ *byte) Code { *fn = 1; return success },
		funcAttr:    func(value *int32, _ int32, _ uintptr) Code { *value = 0; return success },
	}
	return (&Context{d: &Driver{lib: lib, version: 13000}, Info: Info{Major: 9}}).Compiler(disk)
}

// eventually waits for what is done behind.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never comes to it: %s", what)
		}
	}
}

// TestQuick: who waits gets code that is not optimized, and later optimized code takes its place, on the disk, too.
func TestQuick(t *testing.T) {
	disk := NewCache(t.TempDir(), 1<<20)
	f := &fakeDriver{}
	k := f.compiler(disk)
	b := k.Quick("a", 32, false, true)
	k.Keep(b, "name")
	if _, err := k.Module(b); err != nil || string(b.cubin) != "a: level 0, 0 registers" || b.Better() != nil {
		t.Fatalf("%q, better %p, %v", b.cubin, b.Better(), err)
	}
	if k.Quick("a", 32, false, true) != b {
		t.Error("it is compiled twice")
	}
	if !b.Quick() {
		t.Error("it does not say that it is not optimized")
	}
	anew := k.Quick("a", 32, true, false)
	<-anew.Ready()
	if anew == b {
		t.Error("what is to be compiled anew was known")
	}
	eventually(t, "better code", func() bool { return b.Better() != nil && anew.Better() != nil })
	if got := string(b.Better().cubin); got != "a: level 3, 32 registers" || anew.Better() != b.Better() {
		t.Errorf("better: %q", got)
	}
	if full := k.Start("a", 32, false); full != b.Better() || full.Quick() {
		t.Error("who wants optimized code gets another one than those who wait no longer")
	}
	late := k.Quick("a", 32, true, false)
	eventually(t, "better code at once", func() bool { return late.Better() == b.Better() })
	k.Keep(late, "late")
	for _, name := range []string{"name", "late"} {
		eventually(t, name, func() bool {
			got := f.compiler(disk).Stored(name, false)
			return got != nil && string(got.cubin) == "a: level 3, 32 registers"
		})
	}
	k.Close()
	k.Close()

	// A process that has ended too soon has left what it had; the next begins with that, and makes it better.
	ended := f.compiler(disk)
	<-ended.Quick("b", 0, false, true).Ready()
	eventually(t, "a file", func() bool { return disk.Get(ended.quickKey("b")) != nil })
	ended.Close()
	if ended.Quick("b", 0, false, true).Better() != nil {
		t.Error("it is optimized after its end")
	}
	f.linked = nil
	next := f.compiler(disk)
	b = next.Quick("b", 0, false, true)
	<-b.Ready()
	if got := string(b.cubin); got != "b: level 0, 0 registers" || !b.Cached {
		t.Errorf("%q, from the disk: %v", got, b.Cached)
	}
	eventually(t, "better code of the next", func() bool { return b.Better() != nil })
	next.Close()
	if len(f.linked) != 1 || f.linked[0] != "b: level 3, 0 registers" {
		t.Errorf("it has compiled %q", f.linked)
	}
	if b = f.compiler(disk).Quick("b", 0, false, true); <-b.Ready() != struct{}{} || string(b.cubin) != "b: level 3, 0 registers" {
		t.Errorf("the one after that has %q", b.cubin)
	}
}

// TestQuickFails: code that cannot be optimized stays what it is, and code that shall not be optimized never is.
func TestQuickFails(t *testing.T) {
	f := &fakeDriver{fails: "bad"}
	k := f.compiler(nil)
	first := k.Start("first", 0, true)
	if k.Quick("first", 0, false, true) != first || first.Quick() {
		t.Error("there was optimized code already")
	}
	bad := k.Quick("bad", 0, false, true)
	good := k.Quick("good", 0, false, true)
	asItIs := k.Quick("as it is", AsItIs, false, true)
	eventually(t, "better code of others", func() bool { return good.Better() != nil })
	k.Close()
	if bad.Better() != nil || asItIs.Better() != nil {
		t.Errorf("%p and %p are better", bad.Better(), asItIs.Better())
	}
	for _, b := range []*Build{bad, asItIs} {
		if _, err := k.Module(b); err != nil || !strings.Contains(string(b.cubin), "level 0") {
			t.Errorf("%q, %v", b.cubin, err)
		}
	}
}
