package mem

import (
	"runtime"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
)

// TestCleanup: the blocks of a memory that nobody closes go back when the garbage collector finds it.
func TestCleanup(t *testing.T) {
	before := column.BytesInUse()
	func() {
		m := New(budget.New(0), false, false)
		if _, err := m.Take(3 << 20); err != nil {
			t.Fatal(err)
		}
		if column.BytesInUse() < before+3<<20 {
			t.Fatal("nothing is in use")
		}
	}()
	for i := 0; column.BytesInUse() > before; i++ {
		if i == 200 {
			t.Fatalf("%d bytes stay in use", column.BytesInUse()-before)
		}
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}
