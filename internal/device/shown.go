package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/ptx"
	"github.com/kelpiedb/kelpie/internal/simt"
)

// LaneStats is what launches did: warp instructions, active lanes, sectors of memory.
type LaneStats = simt.Stats

// SimtKernel is a function for the simulated GPU. It is a Kernel so that it can take the
// place of machine code, but it is launched, not called.
type SimtKernel struct{ k *simt.Kernel }

func (*SimtKernel) Call(unsafe.Pointer) int64 { panic("a GPU kernel was called like a function") }
func (*SimtKernel) SaveBytes() int            { return 0 }
func (*SimtKernel) Free()                     {}

// kernels are the parsed kernels by their text: a query that comes again, also with other
// literals, finds them here.
var kernels = struct {
	sync.Mutex
	byText map[string]*simt.Kernel
}{byText: map[string]*simt.Kernel{}}

// maxKernels bounds the cache; a full one starts afresh.
const maxKernels = 512

// CompileSimt translates a function to PTX and parses that.
func CompileSimt(f *ir.Func) (*SimtKernel, error) {
	text, err := ptx.Translate(f)
	if err != nil {
		return nil, diag.Errorf(diag.FeatureNotSupported, -1, "device simt: %v", err)
	}
	kernels.Lock()
	k := kernels.byText[text]
	kernels.Unlock()
	if k != nil {
		return &SimtKernel{k}, nil
	}
	m, err := simt.Parse(text)
	if err == nil {
		k, err = m.Kernel(f.Name)
	}
	if err != nil {
		return nil, diag.Internalf("simt", "%v", err)
	}
	kernels.Lock()
	defer kernels.Unlock()
	if len(kernels.byText) >= maxKernels {
		clear(kernels.byText)
	}
	kernels.byText[text] = k
	return &SimtKernel{k}, nil
}

// Simt is the simulated GPU as one query sees it: addresses are the host's, and what was not
// shown to it cannot be touched.
type Simt struct {
	dev  *simt.Device
	seen map[uintptr]int // sizes of what is registered
}

// NewSimt makes a device without memory.
func NewSimt() *Simt { return &Simt{dev: simt.NewDevice(), seen: map[uintptr]int{}} }

// Show registers memory. Showing the same again does nothing.
func (s *Simt) Show(addr uintptr, size int, writable bool) error {
	size = (size + 7) &^ 7 // blocks are longer than what was asked for, and strings are read by words
	if addr == 0 || size == 0 || s.seen[addr] == size {
		return nil
	}
	if s.seen[addr] != 0 {
		if err := s.Hide(addr); err != nil {
			return err
		}
	}
	if err := s.dev.Register(addr, size, writable); err != nil {
		return diag.Internalf("simt", "%v", err)
	}
	s.seen[addr] = size
	return nil
}

// Hide takes memory back.
func (s *Simt) Hide(addr uintptr) error {
	delete(s.seen, addr)
	if err := s.dev.Unregister(addr); err != nil {
		return diag.Internalf("simt", "%v", err)
	}
	return nil
}

// Launch runs a kernel on a context block and waits for it.
func (s *Simt) Launch(ctx context.Context, k *SimtKernel, grid, block int, at uintptr) (LaneStats, error) {
	if block%32 != 0 {
		return LaneStats{}, diag.Internalf("simt", "a block of %d threads is not made of whole warps", block)
	}
	st, err := s.dev.Launch(ctx, k.k, grid, block, []uint64{uint64(at)})
	var e *simt.Error
	switch {
	case err == nil:
		return st, nil
	case ctx.Err() != nil:
		return st, ctx.Err()
	case errors.As(err, &e) && e.Kind == simt.StepLimit:
		return st, diag.Errorf(diag.FeatureNotSupported, -1, "device simt: %v", err)
	}
	return st, diag.Internalf("simt", "%s", fmt.Sprint(err))
}
