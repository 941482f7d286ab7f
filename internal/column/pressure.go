package column

import (
	"runtime"
	"sync/atomic"
	"time"
)

// The garbage collector does not see memory outside its heap, so it would let dropped
// tables lie for a long time. When as much has been taken since the last look as was in
// use then, a collection is asked for; a growing table causes a logarithmic number of them.

const pressureMin = 512 << 20

// collecting stands for the next bytes while a collection runs.
const collecting = 1 << 62

var pressure atomic.Int64 // bytes in use that cause the next collection

func init() { pressure.Store(pressureMin) }

func checkPressure() {
	limit := pressure.Load()
	if inUse.Load() >= limit && pressure.CompareAndSwap(limit, collecting) {
		collect()
	}
}

// collect runs a collection in the background.
func collect() {
	go func() {
		runtime.GC()
		time.Sleep(20 * time.Millisecond) // cleanups run after the collection
		pressure.Store(max(pressureMin, 2*inUse.Load()))
	}()
}

// lostMax is how much may be unreachable before a collection is asked for, whatever is in use.
const lostMax = 32 << 20

var lost atomic.Int64 // since the last collection that was asked for

// Unreachable notes that n bytes of Mems were given up by who kept them.
func Unreachable(n int64) {
	if lost.Add(n) < lostMax {
		return
	}
	lost.Store(0)
	if limit := pressure.Load(); limit != collecting && pressure.CompareAndSwap(limit, collecting) {
		collect()
	}
}
