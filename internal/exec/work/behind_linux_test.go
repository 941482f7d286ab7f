package work

import (
	"runtime"
	"testing"
)

// TestGiveWay: a thread gives way, and no other does, those that it starts among them.
func TestGiveWay(t *testing.T) {
	ask := func(before func()) int {
		came := make(chan int)
		go func() {
			before()
			n, err := niceness()
			if err != nil {
				t.Error(err)
			}
			came <- n
		}()
		return <-came
	}
	usual := ask(runtime.LockOSThread)
	if got, want := ask(GiveWay), min(usual+behind, 19); got != want {
		t.Errorf("it gives way by %d, want %d", got, want)
	}
	inner := -1
	ask(func() {
		GiveWay()
		inner = ask(runtime.LockOSThread)
	})
	if inner != usual {
		t.Errorf("a thread that was started by it gives way by %d", inner)
	}
	if got := ask(runtime.LockOSThread); got != usual {
		t.Errorf("another one gives way by %d", got)
	}
}
