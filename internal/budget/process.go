package budget

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Process counts what this process takes: memory outside of the Go heap, tables included, and what statements say
// that they have on it.
var Process process

type process struct {
	limit atomic.Int64 // 0: none
	used  atomic.Int64

	mu    sync.Mutex // of what follows; held while memory is looked for
	spare []func() (alive bool)
	last  time.Time
}

func init() { Process.limit.Store(DefaultLimit()) }

// share is how much of the machine's memory a process may take without being told, in percent.
const share = 80

// DefaultLimit is the process's limit if nobody sets one: a share of what the machine, or the container, has; 0 where
// that is not known.
func DefaultLimit() int64 { return machineMemory() / 100 * share }

// Limit is the most bytes that the process may take; 0: no limit.
func (p *process) Limit() int64 { return p.limit.Load() }

// SetLimit changes the limit; 0 is none.
func (p *process) SetLimit(n int64) { p.limit.Store(n) }

// Used is the number of bytes that are counted now.
func (p *process) Used() int64 { return p.used.Load() }

// Take counts n bytes. If they do not fit, what is kept for later is given up first.
func (p *process) Take(n int64) error {
	if p.tryTake(n) {
		return nil
	}
	if p.find(n) {
		return nil
	}
	return diag.Errorf(diag.OutOfMemory, diag.NoPos, "out of memory: the process may not take more than %s", Bytes(p.limit.Load())).
		WithDetail("%s are in use, tables included, and %s more are needed.", Bytes(p.used.Load()), Bytes(n)).
		WithHint("drop tables, or raise the limit with SET total_memory_limit = '…' or --memory")
}

func (p *process) tryTake(n int64) bool {
	limit := p.limit.Load()
	if now := p.used.Add(n); limit == 0 || now <= limit {
		return true
	}
	p.used.Add(-n)
	return false
}

// Give is the end of what Take has counted.
func (p *process) Give(n int64) { p.used.Add(-n) }

// Tables that were dropped, and what caches have given up, come back when the garbage collector finds that nobody
// reads them any more, and a moment later.
const (
	collectWait  = 2 * time.Millisecond
	collectTries = 10
	// findAgain is how long after a search the next one does not collect garbage again: a process that is full stays quick.
	findAgain = 200 * time.Millisecond
)

// find takes n bytes after giving up what is kept.
func (p *process) find(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = slices.DeleteFunc(p.spare, func(give func() bool) bool { return !give() })
	if p.tryTake(n) {
		return true
	}
	if time.Since(p.last) < findAgain {
		return false
	}
	defer func() { p.last = time.Now() }()
	for range 2 { // a cleanup may make more unreachable
		runtime.GC()
		for range collectTries {
			time.Sleep(collectWait)
			if p.tryTake(n) {
				return true
			}
		}
	}
	return false
}

// Keeps registers a function that gives up memory which is kept for later.
func Keeps(give func()) {
	Process.mu.Lock()
	defer Process.mu.Unlock()
	Process.spare = append(Process.spare, func() bool {
		give()
		return true
	})
}

// Spare is Keeps for something that may go away; it does not keep x alive.
func Spare[T any](x *T, give func(x *T)) {
	w := weak.Make(x)
	Process.mu.Lock()
	defer Process.mu.Unlock()
	Process.spare = append(Process.spare, func() bool {
		x := w.Value()
		if x != nil {
			give(x)
		}
		return x != nil
	})
}
