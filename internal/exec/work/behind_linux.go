package work

import (
	"runtime"
	"syscall"
)

// behind is how much a thread gives way: beside one that wants all of a processor it gets a quarter of it, which 16 others do not notice. Less would let those wait too long who need what it holds.
const behind = 5

// GiveWay lets the thread of this goroutine run where processors are idle, and little elsewhere, until the goroutine ends, and the thread with it: nobody may take that back.
func GiveWay() {
	runtime.LockOSThread()
	if now, err := niceness(); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), now+behind) // refused, it is one thread among many
	}
}

// niceness is how much this thread gives way: the system says 20 less that.
func niceness() (int, error) {
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
	return 20 - n, err
}
