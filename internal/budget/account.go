package budget

import (
	"strconv"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Account counts the bytes of one statement. It may be used by many goroutines. A nil Account counts nothing.
type Account struct {
	limit int64 // 0: none
	used  atomic.Int64
	peak  atomic.Int64
}

// New makes an account that is held to a limit; 0 is none.
func New(limit int64) *Account { return &Account{limit: limit} }

// Limit is what the statement may take at most, by its own limit or by the process's; 0: nobody says.
func (a *Account) Limit() int64 {
	if a == nil {
		return 0
	}
	total := Process.Limit()
	if a.limit == 0 || total != 0 && total < a.limit {
		return total
	}
	return a.limit
}

// Hold counts memory outside of the Go heap. The process counts it where it is mapped.
func (a *Account) Hold(n int64) error {
	if a == nil {
		return nil
	}
	now := a.used.Add(n)
	if a.limit > 0 && now > a.limit {
		a.used.Add(-n)
		return diag.Errorf(diag.OutOfMemory, diag.NoPos, "out of memory: the statement needs more than its memory limit of %s", Bytes(a.limit)).
			WithHint("raise it with SET memory_limit = '…'")
	}
	for p := a.peak.Load(); now > p && !a.peak.CompareAndSwap(p, now); p = a.peak.Load() {
	}
	return nil
}

// Drop is the end of what Hold has counted.
func (a *Account) Drop(n int64) {
	if a != nil {
		a.used.Add(-n)
	}
}

// Take counts memory of the Go heap, for the process, too.
func (a *Account) Take(n int64) error {
	if a == nil {
		return nil
	}
	if err := a.Hold(n); err != nil {
		return err
	}
	if err := Process.Take(n); err != nil {
		a.Drop(n)
		return err
	}
	return nil
}

// Give is the end of what Take has counted.
func (a *Account) Give(n int64) {
	if a != nil {
		a.Drop(n)
		Process.Give(n)
	}
}

// Used is what is counted now, Peak the most that ever was.
func (a *Account) Used() int64 {
	if a == nil {
		return 0
	}
	return a.used.Load()
}
func (a *Account) Peak() int64 { return a.peak.Load() }

// SetPeak forgets what happened since the peak was p.
func (a *Account) SetPeak(p int64) { a.peak.Store(p) }

// Bytes is a size as text.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10) + " " + units[i]
	}
	tenths := int64(f * 10)
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + " " + units[i]
}
