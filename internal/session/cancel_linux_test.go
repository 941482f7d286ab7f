package session

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// watchedContext notes the longest time that its goroutine computes between two looks at it.
type watchedContext struct {
	context.Context
	last, worst time.Duration
}

func (c *watchedContext) Err() error {
	now := threadTime()
	if c.last != 0 {
		c.worst = max(c.worst, now-c.last)
	}
	c.last = now
	return c.Context.Err()
}

// threadTime is what this thread has computed so far: other processes on the machine do not count.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestHostStepsLook: what is done in Go between pipelines (sorting, building tables, merging groups) looks at the
// context every few milliseconds, so that a query can be canceled at any time.
func TestHostStepsLook(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads = 1 })
	mustRun(t, s, `create table t as select g, (g * 919) % 1000003 as r, 'some longer common prefix ' || ((g * 919) % 1000003) as s
		from generate_series(1, 1000000) g`)
	const most = 50 * time.Millisecond
	for i, q := range []string{
		"select s || 'x' as m from t order by m",
		"select s, r from t order by s desc, r",
		"select 'a' || r % 5 as m, g from t order by m",
		"select r, g from t order by r, g",
		"select r % 3 from t order by 1",
		"select r, count(*) from t group by r",
		"select count(distinct s) from t",
		"select count(*) from t a join t b on a.s = b.s",
		"select count(*) from t a join t b on a.r = b.g",
		"update t set s = s || 'x' where r >= 0",
	} {
		if testing.Short() && i > 2 {
			break
		}
		ctx := &watchedContext{Context: t.Context()}
		res, err := s.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
		t.Logf("%v  %s", ctx.worst, q)
		if ctx.worst > most {
			t.Errorf("%s: nobody looked at the context for %v", q, ctx.worst)
		}
	}
}
