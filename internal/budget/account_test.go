package budget

import (
	"runtime"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

func TestAccount(t *testing.T) {
	a := New(100)
	if err := a.Hold(60); err != nil {
		t.Fatal(err)
	}
	before := Process.Used()
	if err := a.Take(40); err != nil || Process.Used() != before+40 {
		t.Fatal(err, Process.Used()-before)
	}
	err := a.Take(1)
	if diag.CodeOf(err) != diag.OutOfMemory || Process.Used() != before+40 || a.Used() != 100 {
		t.Errorf("%v with %d in use", err, a.Used())
	}
	a.Drop(60)
	a.Give(40)
	if a.Used() != 0 || a.Peak() != 100 || Process.Used() != before {
		t.Errorf("%d in use, %d at most", a.Used(), a.Peak())
	}
	var none *Account
	if none.Take(1<<60) != nil || none.Limit() != 0 || none.Used() != 0 {
		t.Error("no account refuses")
	}
	none.Give(1 << 60)
}

// TestAccountThreads takes more than there is from many goroutines: never is more counted than the limit.
func TestAccountThreads(t *testing.T) {
	a := New(1000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5000 {
				if a.Hold(300) == nil {
					a.Drop(300)
				}
			}
		})
	}
	wg.Wait()
	if a.Used() != 0 || a.Peak() > 1000 {
		t.Errorf("%d in use, %d at most", a.Used(), a.Peak())
	}
}

// kept is something that holds memory which it could do without.
type kept struct{ bytes int64 }

func (k *kept) give() {
	Process.Give(k.bytes)
	k.bytes = 0
}

// TestProcess has what is kept go before something is refused.
func TestProcess(t *testing.T) {
	defer Process.SetLimit(Process.Limit())
	base := Process.Used()
	Process.SetLimit(base + 1000)
	k, gone := &kept{}, &kept{}
	Spare(k, (*kept).give)
	Spare(gone, (*kept).give)
	if err := Process.Take(700); err != nil {
		t.Fatal(err)
	}
	k.bytes = 700
	if err := Process.Take(900); err != nil || k.bytes != 0 {
		t.Fatalf("%v, %d are kept", err, k.bytes)
	}
	err := Process.Take(200)
	if diag.CodeOf(err) != diag.OutOfMemory || Process.Used() != base+900 {
		t.Errorf("%v with %d in use", err, Process.Used()-base)
	}
	gone = nil
	runtime.GC()
	Process.SetLimit(0)
	if err := Process.Take(1 << 40); err != nil {
		t.Error(err)
	}
	Process.Give(1<<40 + 900)
	runtime.KeepAlive(k)
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 100 << 20: "100 MiB", 5 << 40: "5 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %q", n, got)
		}
	}
}
