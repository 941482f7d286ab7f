package x64

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Code is a translated function. It may be called by many goroutines at once,
// each with its own context.
type Code struct {
	name      string
	entry     uintptr
	size      int
	saveBytes int
	listing   string
	place     block
	counts    *tally
}

// ErrUnsupported says that this processor lacks what generated code needs.
var ErrUnsupported = errors.New("x64: this CPU lacks x86-64-v3 (AVX2, BMI1, BMI2, LZCNT, POPCNT)")

// Translate makes machine code of f.
func Translate(f *ir.Func) (*Code, error) { return TranslateWith(f, Options{}) }

// TranslateWith is Translate with options.
func TranslateWith(f *ir.Func, opt Options) (c *Code, err error) {
	if !canRun {
		return nil, fmt.Errorf("x64: no CPU translator for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if !Supported() {
		return nil, ErrUnsupported
	}
	t := translators.Get().(*translator)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notOpen:
			t.fail("register %d is not open", r)
			c, err = nil, t.err
		case ctxAssigned:
			t.fail("the context register is never assigned")
			c, err = nil, t.err
		default: // what the verifier would have refused, or a bug of ours
			c, err = nil, fmt.Errorf("internal error in x64: %s instruction %d: %v (please report)", f.Name, t.index, r)
		}
		t.release()
	}()
	p, err := t.translate(f, opt)
	if err != nil {
		return nil, err
	}
	place, err := codeMemory.alloc(p.size)
	if err != nil {
		return nil, fmt.Errorf("x64: no memory for the code of %s: %w", f.Name, err)
	}
	t.writeTo(place.write[:p.size], p.coldAt, p.poolAt)
	c = &Code{name: f.Name, size: p.size, saveBytes: p.saveBytes, place: place, counts: t.counts}
	if opt.Listing {
		c.listing = t.listingOf(f.Name, place.write[:p.size], p.coldAt, p.poolAt)
	}
	if c.entry, err = codeMemory.seal(place); err != nil {
		return nil, fmt.Errorf("x64: code of %s cannot be made executable: %w", f.Name, err)
	}
	return c, nil
}

// release gives the translator back to the pool without what belongs to the caller.
func (t *translator) release() {
	t.f, t.err, t.counts = nil, nil, nil
	if len(t.b)+len(t.other.b) <= 1<<20 { // a giant's buffers are not worth keeping
		translators.Put(t)
	}
}

// Call runs the code. ctx addresses a context block; the result is an exit status.
// Faults inside, at whatever address, are run-time panics of the caller.
func (c *Code) Call(ctx unsafe.Pointer) int64 {
	// Without this, only faults in the first page are panics; all others end the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return enter(c.entry, ctx)
}

// SaveBytes is how large the area at the context's ir.CtxSave must be; 0: none is needed.
func (c *Code) SaveBytes() int { return c.saveBytes }

// Size is the number of bytes of code and constants.
func (c *Code) Size() int { return c.size }

// Listing is the code as text, if Options.Listing asked for it.
func (c *Code) Listing() string { return c.listing }

// Free gives the code's memory back. No call may be under way or follow.
func (c *Code) Free() {
	if c.entry == 0 {
		return
	}
	c.entry = 0
	codeMemory.free(c.place)
	c.place = block{}
}
