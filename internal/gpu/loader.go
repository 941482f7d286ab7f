package gpu

import (
	"context"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
)

// loader is where a query gets its code from: what the store knows and the device has kept, or, to see how long that takes, only
// what earlier processes stored, or nothing. It knows how long the query waited.
type loader struct {
	store *Store
	from  exec.CodeFrom
	start time.Time       // of the query
	done  <-chan struct{} // closed when nobody waits for code any more; nil: somebody always does
	here  bool            // code is compiled on the thread that asks for it
	quick bool            // code need not be good, but is to be there soon
	// What a query that must not know anything has compiled itself.
	own     *codes
	mu      sync.Mutex
	made    map[string]device.Code
	library *kernels.Library
	// begun is what was foreseen, by the hash of its IR.
	begun map[uint64][]*begun

	waited time.Duration
	ready  time.Duration // when the last code that the query needed was there, from the beginning on
}

func newLoader(s *Store, from exec.CodeFrom) *loader {
	return &loader{store: s, from: from, start: time.Now(), own: &codes{}, made: map[string]device.Code{}, begun: map[uint64][]*begun{}}
}

// begun is a function that is being compiled before its turn came.
type begun struct {
	of    *compiled
	done  chan struct{} // closed when what follows is there
	fn    device.Function
	err   error
	ready time.Duration // when that was, from the query's beginning on
}

// untranslatable is the error of a function that has no text for the device.
type untranslatable struct{ error }

// begin lets the device compile and load a function, if it does not know it yet: to load code waits for kernels that run, so that it comes before those of the query.
// The function's memory goes with that.
func (l *loader) begin(fn *ir.Func) {
	known, hash := l.codes().find(fn, l.quick)
	if known != nil || l.find(fn, hash) != nil {
		fn.Release()
		return
	}
	b := &begun{of: madeOf(fn), done: make(chan struct{})}
	l.begun[hash] = append(l.begun[hash], b)
	go func() { // to write texts takes as long as to emit them, and they are many
		defer close(b.done)
		defer diag.Recover("gpu", &b.err)
		name := fn.Name
		code, err := l.code(fn)
		fn.Release()
		if err != nil {
			b.err = err
			return
		}
		b.fn, b.err = code.Function(name)
		b.ready = time.Since(l.start)
	}()
}

func (l *loader) find(fn *ir.Func, hash uint64) *begun {
	for _, b := range l.begun[hash] {
		if b.of.is(fn) {
			return b
		}
	}
	return nil
}

// function is that of some IR, which may have been foreseen. Who asks waits for it.
func (l *loader) function(fn *ir.Func, hash uint64) (f device.Function, foreseen bool, err error) {
	if b := l.find(fn, hash); b != nil {
		start := time.Now()
		defer func() { l.waited += time.Since(start) }()
		select {
		case <-b.done:
		case <-l.done:
			return nil, true, context.Canceled
		}
		l.ready = max(l.ready, b.ready)
		return b.fn, true, b.err
	}
	code, err := l.code(fn)
	if err != nil {
		return nil, false, err
	}
	f, err = (&awaited{code, l}).Function(fn.Name)
	return f, false, err
}

// codes are the functions that the query may know.
func (l *loader) codes() *codes {
	if l.from == exec.CodeKept {
		return &l.store.codes
	}
	return l.own
}

// code is what becomes of a function, or is about to.
func (l *loader) code(fn *ir.Func) (device.Code, error) {
	return l.named(device.CodeName(device.AnyGPU, fn), func() (string, error) {
		text, err := device.ListGPU(fn)
		if err != nil {
			return "", untranslatable{err}
		}
		return text, nil
	})
}

// named is the code of that name, or what becomes of the text that it stands for: to write that takes longer than to read the code from the disk.
func (l *loader) named(name string, text func() (string, error)) (device.Code, error) {
	if name != "" && l.from != exec.CodeNew {
		if c := l.store.dev.Stored(name, l.from == exec.CodeStored); c != nil {
			return c, nil
		}
	}
	t, err := text()
	if err != nil {
		return nil, err
	}
	c := l.load(t)
	if name != "" {
		c.Keep(name)
	}
	return c, nil
}

// load begins to compile a text.
func (l *loader) load(text string) device.Code {
	if l.from == exec.CodeKept {
		if l.here {
			return l.store.dev.LoadHere(text)
		}
		if l.quick {
			return l.store.dev.LoadQuick(text)
		}
		return l.store.dev.Load(text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made[text] == nil {
		l.made[text] = l.store.dev.Anew(text, l.from == exec.CodeStored, l.quick)
	}
	return l.made[text]
}

// kernels are those of the library.
func (l *loader) kernels() *kernels.Library {
	if l.from == exec.CodeKept {
		return l.store.library
	}
	if l.library == nil {
		l.library = kernels.LoadBy(l.store.dev.Info(), func(name string, text func() (string, error)) (device.Code, error) {
			c, err := l.named(name, text)
			return &awaited{c, l}, err
		})
	}
	return l.library
}

// awaited is code that its query waits for.
type awaited struct {
	device.Code
	l *loader
}

func (c *awaited) Function(name string) (f device.Function, err error) {
	start := time.Now()
	if c.l.done == nil {
		f, err = c.Code.Function(name)
	} else {
		f, err = c.unlessDone(name)
	}
	c.l.waited += time.Since(start)
	c.l.ready = time.Since(c.l.start)
	return f, err
}

// unlessDone is Function for one who may lose interest meanwhile: the code is compiled all the same, for others.
func (c *awaited) unlessDone(name string) (device.Function, error) {
	type made struct {
		f   device.Function
		err error
	}
	came := make(chan made, 1)
	go func() {
		f, err := c.Code.Function(name)
		came <- made{f, err}
	}()
	select {
	case m := <-came:
		return m.f, m.err
	case <-c.l.done:
		return nil, context.Canceled
	}
}

// prepare makes sure that the store knows a function before queries want it. Its memory goes with that.
func (s *Store) prepare(f *ir.Func) error {
	defer f.Release()
	known, hash := s.codes.find(f, false)
	if known != nil {
		return nil
	}
	code, err := device.LoadNamed(s.dev, device.CodeName(device.AnyGPU, f), func() (string, error) { return device.ListGPU(f) })
	if err != nil {
		return err
	}
	fn, err := code.Function(f.Name)
	if err == nil {
		s.codes.add(f, hash, fn)
	}
	return err
}
