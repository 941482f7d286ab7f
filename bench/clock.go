package main

import (
	"syscall"
	"time"
)

// clock is what runs are timed by. Differences count.
type clock func() time.Duration

var started = time.Now()

// wallTime is what a person waits for.
func wallTime() time.Duration { return time.Since(started) }

// cpuTime is what all threads of this process have computed. On a machine that others use as well it says
// more about an engine than the time on the wall, as long as it works with one thread.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return wallTime()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
