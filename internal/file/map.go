package file

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Pages are read where the system has them: a file is mapped for as long as its footer is kept, and what a chunk needs
// is not copied. Whoever cuts a mapped file short makes reading it fault, which becomes an error (mayFault).

// mapping is a file in memory.
type mapping struct {
	once sync.Once
	data []byte // nil: it cannot be mapped
}

// mapped is the bytes of a file that was found unchanged and is open as h; nil if it must be read.
func (f *parquetFile) mapped(h *os.File) []byte {
	f.memory.once.Do(func() {
		if f.memory.data = mapFile(h, f.in.size); f.memory.data != nil {
			runtime.AddCleanup(f, unmapFile, f.memory.data)
		}
	})
	return f.memory.data
}

// mayFault makes faults of the goroutine panics until the function that it returns is called.
func mayFault() (done func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}
