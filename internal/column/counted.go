package column

import "github.com/kelpiedb/kelpie/internal/budget"

// Everything that this package maps is counted for the process, also what waits in the pool.

func init() { budget.Keeps(func() { TrimPool(0) }) }

// takeMapping maps n zeroed bytes.
func takeMapping(n int) (uintptr, error) { return counted(n, mapMemory) }

func counted(n int, from func(n int) (uintptr, error)) (uintptr, error) {
	if err := budget.Process.Take(int64(n)); err != nil {
		return 0, err
	}
	addr, err := from(n)
	if err != nil {
		budget.Process.Give(int64(n))
		return 0, outOfMemory(n)
	}
	return addr, nil
}

func dropMapping(addr uintptr, n int) {
	unmapMemory(addr, n)
	budget.Process.Give(int64(n))
}

// TrimPool gives blocks in the pool back to the system until no more than so many bytes wait there.
func TrimPool(most int64) {
	if waiting.Load() <= most {
		return
	}
	pool.Lock()
	defer pool.Unlock()
	for int64(pool.bytes) > most && dropLargest() {
	}
}
