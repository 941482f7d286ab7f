package phys

import (
	"strings"
	"testing"
	"time"
)

// TestChoosePlace holds decisions to what they print. TPC-H q6 at scale factor 10 is one pipeline over 60 million rows of 8 bytes, and the
// pipeline that shows its sums.
func TestChoosePlace(t *testing.T) {
	q6 := Work{Pipelines: 2, Rows: 60e6, Visits: 1e6}
	here := Accelerator{Bandwidth: 4.4e12, Room: 100e9, Bytes: 480e6, Compiled: true}
	with := func(f func(*Accelerator)) *Accelerator {
		a := here
		f(&a)
		return &a
	}
	for _, c := range []struct {
		work    Work
		threads int
		facts   *Accelerator
		want    string
	}{
		{Work{Pipelines: 2, Rows: 1000, Visits: 100}, 16, nil, "cpu: about 0.2 ms, less than a GPU needs to begin"},
		{q6, 16, &Accelerator{Missing: "there is no driver"}, "cpu: there is no driver"},
		{q6, 16, &here, "gpu: about 0.8 ms, 6.8 ms on the CPU"},
		{q6, 1, &here, "gpu: about 0.8 ms, 105 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Bandwidth = 0 }), "gpu: about 1.1 ms, 6.8 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Absent = 480e6 }), "cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there"},
		{q6, 1, with(func(a *Accelerator) { a.Absent = 480e6 }), "gpu: about 97 ms with copying 480 MB there, 105 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Compiled = false }), "cpu: about 6.8 ms, 51 ms on the GPU with compiling its kernels"},
		{q6, 1, with(func(a *Accelerator) { a.Compiled = false }), "gpu: about 51 ms with compiling its kernels, 105 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Compiled, a.Absent = false, 480e6 }),
			"cpu: about 6.8 ms, 147 ms on the GPU with copying 480 MB there and compiling its kernels"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Missed = 480e6, 91*time.Millisecond }),
			"gpu: about 97 ms with copying 480 MB there, which later queries need not pay; 6.8 ms on the CPU, where 91 ms were lost before"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Missed = 480e6, 89*time.Millisecond }),
			"cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Behind, a.Free = 480e6, true, 480e6 }),
			"cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there, which is done behind the query"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Behind, a.Free = 480e6, true, 480e6-1 }),
			"cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Behind, a.Missed = 480e6, true, 91*time.Millisecond }),
			"cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there, which is done behind the query"},
		{q6, 16, with(func(a *Accelerator) { a.Absent, a.Behind, a.Missed = 480e6, true, 89*time.Millisecond }),
			"cpu: about 6.8 ms, 97 ms on the GPU with copying 480 MB there"},
		{q6, 1, with(func(a *Accelerator) { a.Absent, a.Behind, a.Free = 480e6, true, 100e9 }), // it would gain, if not much
			"cpu: about 105 ms, 97 ms on the GPU with copying 480 MB there, which is done behind the query"},
		{q6, 1, with(func(a *Accelerator) { a.Absent, a.Behind, a.Free = 17.3e6, true, 100e9 }), // thirty times as much as it costs
			"gpu: about 4.2 ms with copying 17 MB there, 105 ms on the CPU"},
		{q6, 1, with(func(a *Accelerator) { a.Absent, a.Behind, a.Free = 17.5e6, true, 100e9 }),
			"cpu: about 105 ms, 4.3 ms on the GPU with copying 18 MB there, which is done behind the query"},
		{q6, 1, with(func(a *Accelerator) { a.Absent, a.Behind, a.Room, a.Compiled = 480e6, true, 400e6, false }), // what streams is not fetched before
			"cpu: about 105 ms, 147 ms on the GPU with compiling its kernels, 480 MB over the bus each time"},
		{q6, 16, with(func(a *Accelerator) { a.Behind = true }), "gpu: about 0.8 ms, 6.8 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Room = 400e6 }), "cpu: about 6.8 ms, 77 ms on the GPU, 380 MB over the bus each time"},
		{q6, 1, with(func(a *Accelerator) { a.Room = 400e6 }), "gpu: about 77 ms, 380 MB over the bus each time, 105 ms on the CPU"},
		{q6, 1, with(func(a *Accelerator) { a.Room, a.Absent = 400e6, 480e6 }), "gpu: about 97 ms, 480 MB over the bus each time, 105 ms on the CPU"},
		{q6, 1, with(func(a *Accelerator) { a.Room, a.Absent, a.Compiled = 400e6, 480e6, false }),
			"cpu: about 105 ms, 147 ms on the GPU with compiling its kernels, 480 MB over the bus each time"},
		{Work{Pipelines: 6, Rows: 60e6, Visits: 400e6}, 16, with(func(a *Accelerator) { a.Room, a.Absent = 400e6, 480e6 }),
			"gpu: about 118 ms, 480 MB over the bus each time, 381 ms on the CPU"},
		{q6, 16, with(func(a *Accelerator) { a.Bytes, a.Files = 0, 480e6 }), "cpu: about 6.8 ms, 97 ms on the GPU, 480 MB over the bus each time"},
		{q6, 1, with(func(a *Accelerator) { a.Bytes, a.Files = 0, 480e6 }), "gpu: about 97 ms, 480 MB over the bus each time, 105 ms on the CPU"},
		{q6, 1, with(func(a *Accelerator) { a.Bytes, a.Files, a.Room = 0, 480e6, 100e6 }), "cpu: columns of its files take 480 MB, and the GPU has room for 100 MB"},
		{Work{Pipelines: 1, Rows: 60e6, Back: 48e6}, 16, &here, "cpu: about 5.7 ms, 6.4 ms on the GPU, 48 MB come back"},
		{Work{Pipelines: 1, Rows: 60e6, Back: 5e6}, 16, &here, "gpu: about 1.0 ms, 5.7 ms on the CPU"},
		{Work{Pipelines: 2, Rows: 20e6, Visits: 5e6, Made: 1e7}, 16, &here, "cpu: about 6.8 ms, 470 ms on the GPU, where Go makes 10000000 values"},
		{Work{Pipelines: 1, Rows: 6e6, Sorted: 48e6, Back: 144e6}, 16, &here, "gpu: about 26 ms, 301 ms on the CPU"},
		{Work{Pipelines: 2, Rows: 3e6}, 16, with(func(a *Accelerator) { a.Bytes = 24e6; a.Bandwidth = 1e9 }), "cpu: about 0.5 ms, less than a GPU needs to begin"},
		{Work{Pipelines: 2, Rows: 6e6}, 16, with(func(a *Accelerator) { a.Bandwidth = 1e9 }), "cpu: about 0.8 ms, 481 ms on the GPU"},
	} {
		p := ChoosePlace(c.work, c.threads, Known{}, func() Accelerator {
			if c.facts == nil {
				t.Error("a GPU was asked for")
				return Accelerator{Missing: "none"}
			}
			return *c.facts
		})
		if p.String() != c.want {
			t.Errorf("%+v on %d threads: %s\nwant %s", c.work, c.threads, p, c.want)
		}
		if p.Missed > 0 == p.GPU && p.Hot > 0 && p.Hot < p.CPU {
			t.Errorf("%s: %v is missed", p, p.Missed)
		}
		if p.Warm != strings.HasSuffix(c.want, "behind the query") {
			t.Errorf("%s: warm is %t", p, p.Warm)
		}
	}
}

// TestChoosePlaceKnown: how long queries took counts more than what was expected of them.
func TestChoosePlaceKnown(t *testing.T) {
	q6 := Work{Pipelines: 2, Rows: 60e6, Visits: 1e6}
	here := Accelerator{Bandwidth: 4.4e12, Room: 100e9, Bytes: 480e6, Compiled: true}
	lacks := Accelerator{Bandwidth: 4.4e12, Room: 100e9, Free: 100e9, Bytes: 480e6, Absent: 174e6, Compiled: true, Behind: true}
	more := lacks
	more.Absent += 1e6
	for _, c := range []struct {
		threads int
		known   Known
		facts   *Accelerator
		want    string
	}{
		{16, Known{CPU: 2}, &here, "gpu: about 0.8 ms, 14 ms (measured) on the CPU"},
		{16, Known{CPU: 2, GPU: 10}, &here, "gpu: about 7.6 ms (measured), 14 ms (measured) on the CPU"},
		{16, Known{GPU: 10}, &here, "cpu: about 6.8 ms, 7.6 ms (measured) on the GPU"},
		{16, Known{CPU: 0.1}, &here, "cpu: about 0.7 ms (measured), 0.8 ms on the GPU"},
		{16, Known{CPU: 0.08}, nil, "cpu: about 0.5 ms (measured), less than a GPU needs to begin"},
		{1, Known{CPU: 1}, &lacks, "gpu: about 36 ms with copying 174 MB there, 105 ms (measured) on the CPU"}, // three times as much as it costs
		{1, Known{CPU: 1}, &more, "cpu: about 105 ms (measured), 36 ms on the GPU with copying 175 MB there, which is done behind the query"},
		{1, Known{GPU: 1}, &lacks, "cpu: about 105 ms, 36 ms on the GPU with copying 174 MB there, which is done behind the query"},
	} {
		p := ChoosePlace(q6, c.threads, c.known, func() Accelerator {
			if c.facts == nil {
				t.Error("a GPU was asked for")
				return Accelerator{Missing: "none"}
			}
			return *c.facts
		})
		if p.String() != c.want {
			t.Errorf("%+v on %d threads: %s\nwant %s", c.known, c.threads, p, c.want)
		}
	}
}

// TestHistory: the median of the last three runs, and what is forgotten.
func TestHistory(t *testing.T) {
	var h History
	run := func(gpu bool, times ...int) {
		for _, x := range times {
			h.Ran(7, gpu, 10*time.Millisecond, time.Duration(x)*10*time.Millisecond)
		}
	}
	want := func(cpu, gpu float64) {
		t.Helper()
		if got := h.Known(7); got != (Known{cpu, gpu}) {
			t.Errorf("known: %+v, want %v and %v", got, cpu, gpu)
		}
	}
	want(0, 0)
	run(false, 9)
	want(9, 0)
	run(false, 3)
	want(3, 0)
	run(false, 5)
	want(5, 0)
	run(true, 2)
	want(5, 2)
	run(false, 1) // instead of 9
	want(3, 2)
	for range tryAgain - 2 {
		run(false, 4)
	}
	want(4, 2)
	run(true, 2)
	for range tryAgain - 1 {
		run(false, 4)
	}
	want(4, 2)
	run(false, 4)
	want(4, 0)
	for i := range uint64(mostShapes - 1) {
		h.Ran(100+i, false, 1, 1)
	}
	run(false, 4)
	want(4, 0)
	h.Ran(99, false, 1, 1)
	want(0, 0)
}
