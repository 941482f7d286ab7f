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
	if inUse.Load() < limit || !pressure.CompareAndSwap(limit, collecting) {
		return
	}
	go func() {
		runtime.GC()
		time.Sleep(20 * time.Millisecond) // cleanups run after the collection
		pressure.Store(max(pressureMin, 2*inUse.Load()))
	}()
}
