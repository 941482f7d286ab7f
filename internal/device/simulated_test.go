package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func small() *Simulated { return NewSimulated(SimulatedOptions{Memory: 1 << 20}) }

// TestSimulatedFaults: each wrong address says what it is.
func TestSimulatedFaults(t *testing.T) {
	foreign := small()
	other := must[Addr](t)(stream(t, foreign).Alloc(4096))
	host := make([]byte, 4096)
	for _, c := range []struct {
		what string
		at   func(s Stream, a Addr) uint64
		want string
	}{
		{"host", func(Stream, Addr) uint64 { return uint64(uintptr(unsafe.Pointer(&host[0]))) }, "no address of a device"},
		{"null", func(Stream, Addr) uint64 { return 0 }, "no address of a device"},
		{"another device", func(Stream, Addr) uint64 { return uint64(other) }, "belongs to simulated device"},
		{"freed", func(s Stream, a Addr) uint64 { ok(t, s.Free(a)); return uint64(a) }, "of 4096 bytes at"},
		{"behind", func(_ Stream, a Addr) uint64 { return uint64(a) + 4096 }, "0 bytes after the end of the buffer"},
		{"before", func(_ Stream, a Addr) uint64 { return uint64(a) - 4 }, "4 bytes before the buffer"},
	} {
		for _, how := range []string{"launch", "upload", "download", "fill", "copy"} {
			d := small()
			s := stream(t, d)
			a := must[Addr](t)(s.Alloc(4096))
			good := must[Addr](t)(s.Alloc(128))
			at := c.at(s, a)
			var err error
			switch how {
			case "launch":
				err = s.Launch(function(t, d, "add"), Shape{1, 32, 0}, uint64(good), at, 32, 1)
			case "upload":
				err = s.Upload(Addr(at), make([]byte, 128))
			case "download":
				err = s.Download(make([]byte, 128), Addr(at))
			case "fill":
				err = s.Fill(Addr(at), 0, 128)
			case "copy":
				err = s.Copy(Addr(at), good, 128)
			}
			wantKind(t, c.what+" by "+how, err, Faulted)
			if how == "launch" && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "kernel add, line")) {
				t.Errorf("%s: %v", c.what, err)
			}
			wantKind(t, "after it", s.Sync(), Lost)
		}
	}
	d := small()
	s := stream(t, d)
	a := must[Addr](t)(s.Alloc(4096))
	wantKind(t, "across the end", s.Fill(a+4000, 0, 97), Faulted)
}

// TestSimulatedOrder: what only works because the simulation runs at once is found.
func TestSimulatedOrder(t *testing.T) {
	type world struct {
		d    *Simulated
		s, o Stream
		e    Event
		f    Function
		a    Addr
	}
	launch := func(w *world, s Stream) error { return s.Launch(w.f, Shape{1, 32, 0}, uint64(w.a), uint64(w.a), 32, 1) }
	for _, c := range []struct {
		what string
		do   func(w *world) error
		want string // "" : nothing is wrong
	}{
		{"use without waiting", func(w *world) error { return launch(w, w.o) }, "does not wait"},
		{"use after the mark", func(w *world) error { return errors.Join(w.s.Record(w.e), w.o.Wait(w.e), launch(w, w.o)) }, ""},
		{"use after a sync", func(w *world) error { return errors.Join(w.s.Sync(), launch(w, w.o)) }, ""},
		{"copy without waiting", func(w *world) error { return w.o.Fill(w.a, 1, 4) }, "does not wait"},
		{"free while another may use it", func(w *world) error {
			return errors.Join(w.s.Sync(), launch(w, w.o), w.s.Free(w.a))
		}, "may still be using"},
		{"free after the other's mark", func(w *world) error {
			return errors.Join(w.s.Sync(), launch(w, w.o), w.o.Record(w.e), w.s.Wait(w.e), w.s.Free(w.a))
		}, ""},
		{"free after the other's sync", func(w *world) error {
			return errors.Join(w.s.Sync(), launch(w, w.o), w.o.Sync(), w.s.Free(w.a))
		}, ""},
		{"a mark from before the use", func(w *world) error {
			return errors.Join(w.s.Sync(), w.o.Record(w.e), launch(w, w.o), w.s.Wait(w.e), w.s.Free(w.a))
		}, "may still be using"},
		{"free by a stream that does not know it", func(w *world) error { return w.o.Free(w.a) }, "does not wait"},
		{"free twice", func(w *world) error { return errors.Join(w.s.Free(w.a), w.s.Free(w.a)) }, "that stream 0 freed"},
		{"free of a part", func(w *world) error { return w.s.Free(w.a + 256) }, "not the address of an allocation"},
		{"use after free in another stream", func(w *world) error {
			return errors.Join(w.s.Sync(), w.s.Free(w.a), launch(w, w.o))
		}, "that stream 0 freed"},
		{"a mark that nobody set", func(w *world) error { return w.s.Wait(w.e) }, "has set it"},
		{"overlapping copy", func(w *world) error { return w.s.Copy(w.a, w.a+4, 8) }, "overlap"},
		{"a closed stream", func(w *world) error { return errors.Join(w.o.Close(), w.o.Fill(w.a, 0, 4)) }, "closed"},
		{"time of a mark that nobody saw", func(w *world) error {
			ok(t, w.s.Record(w.e))
			_, err := w.e.Since(w.e)
			return err
		}, "nobody has waited"},
	} {
		d := small()
		w := &world{d: d, s: stream(t, d), o: stream(t, d), f: function(t, d, "add"), e: must[Event](t)(d.Event())}
		w.a = must[Addr](t)(w.s.Alloc(1024))
		err := c.do(w)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// TestSimulatedArrival: what was downloaded is there after waiting for it, and not before.
func TestSimulatedArrival(t *testing.T) {
	d := small()
	s, o := stream(t, d), stream(t, d)
	e := must[Event](t)(d.Event())
	a := must[Addr](t)(s.Alloc(16))
	first, second := make([]byte, 16), make([]byte, 16)
	ok(t, s.Fill(a, 1, 16), s.Download(first, a), s.Record(e), s.Fill(a, 2, 16), s.Download(second, a))
	if first[0] != rubbish || second[0] != rubbish {
		t.Error("results are there before anybody waited")
	}
	ok(t, o.Wait(e), o.Sync())
	if first[0] != 1 || second[0] != rubbish {
		t.Errorf("behind the mark: %d and %d", first[0], second[0])
	}
	ok(t, s.Sync())
	if second[0] != 2 {
		t.Errorf("at the end: %d", second[0])
	}
}

// TestSimulatedRubbish: new memory is neither zero nor something else.
func TestSimulatedRubbish(t *testing.T) {
	d := small()
	s := stream(t, d)
	got := make([]byte, 100)
	ok(t, s.Download(got, must[Addr](t)(s.Alloc(100))), s.Sync())
	if !bytes.Equal(got[:99], bytes.Repeat([]byte{0, rubbish, rubbish}, 33)) {
		t.Error("memory is clean without being cleaned")
	}
}

// TestSimulatedMany: several devices at once, each with its own memory and limit.
func TestSimulatedMany(t *testing.T) {
	a, b := NewSimulated(SimulatedOptions{Memory: 4096}), NewSimulated(SimulatedOptions{Memory: 8192})
	sa, sb := stream(t, a), stream(t, b)
	pa, pb := must[Addr](t)(sa.Alloc(4096)), must[Addr](t)(sb.Alloc(4096))
	if pa == pb {
		t.Error("two devices give out one address")
	}
	_, err := sa.Alloc(1)
	wantKind(t, "a full device", err, OutOfMemory)
	_ = must[Addr](t)(sb.Alloc(4096))
	ok(t, sa.Free(pa))
	_ = must[Addr](t)(sa.Alloc(3841)) // 16 × 256
	_, err = sa.Alloc(1)
	wantKind(t, "a full device", err, OutOfMemory)
	ok(t, sb.Launch(function(t, b, "add"), Shape{1, 32, 0}, uint64(pb), uint64(pb), 32, 1))
	if a.Counts().Launches != 0 || b.Counts().Launches != 1 || b.Counts().Lanes.WarpInstrs == 0 {
		t.Error("launches are counted elsewhere")
	}
}

// TestSimulatedWindow: addresses are given out again when all were, and never twice at a time.
func TestSimulatedWindow(t *testing.T) {
	d := small()
	s := stream(t, d)
	first := must[Addr](t)(s.Alloc(1000))
	d.next = d.first + 1<<windowBits - memGap
	second := must[Addr](t)(s.Alloc(1000))
	if second <= first || second > first+4*memGap {
		t.Errorf("%#x after %#x", second, first)
	}
	ok(t, s.Free(first), s.Fill(second, 0, 1000), s.Free(second))
}

// TestFailWith: tests of others can ask for trouble.
func TestFailWith(t *testing.T) {
	d := small()
	s := stream(t, d)
	calls := 0
	d.FailWith(func(call string) error {
		if calls++; calls == 3 && strings.HasPrefix(call, "alloc") {
			return &Error{Kind: OutOfMemory, Device: "simt", Call: call, Err: errors.New("asked for")}
		}
		if calls == 5 {
			return &Error{Kind: Lost, Device: "simt", Call: call, Err: errors.New("asked for")}
		}
		return nil
	})
	var kinds []string
	for range 7 {
		_, err := s.Alloc(10)
		kind := "fine"
		if err != nil {
			kind = KindOf(err).String()
		}
		kinds = append(kinds, kind)
	}
	if got := fmt.Sprint(kinds); got != "[fine fine out of memory fine device lost device lost device lost]" {
		t.Error(got)
	}
}

// TestSimulatedCancel: a kernel that never ends is ended by its stream's context.
func TestSimulatedCancel(t *testing.T) {
	d := small()
	ctx, stop := context.WithCancel(context.Background())
	s := must[Stream](t)(d.Stream(ctx))
	f := must[Function](t)(d.Load(`.version 7.0
.target sm_70
.address_size 64
.visible .entry spin() { L: bra L; }`).Function("spin"))
	go stop()
	if err := s.Launch(f, Shape{1, 32, 0}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := stream(t, d).Sync(); err != nil {
		t.Errorf("the device is lost by it: %v", err)
	}
}
