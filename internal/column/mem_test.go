package column

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestMem(t *testing.T) {
	if !alone(t) {
		return
	}
	before := BytesInUse()
	var ms []*Mem
	for _, n := range []int{0, 1, 511, 512, 513, 4096, 64 << 10, 64<<10 + 1, 5 << 20} {
		m, err := Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if m.Addr()%Align != 0 || m.Size() != n || len(m.Bytes()) != n {
			t.Errorf("Alloc(%d): address %x, size %d", n, m.Addr(), m.Size())
		}
		for i, b := range m.Bytes() {
			if b != 0 {
				t.Fatalf("Alloc(%d): byte %d is not zero", n, i)
			}
		}
		for i := range m.Bytes() {
			m.Bytes()[i] = 0xAA
		}
		ms = append(ms, m)
	}
	if BytesInUse() <= before+5<<20 {
		t.Error("nothing counted")
	}
	for _, m := range ms {
		m.Free()
		m.Free() // harmless
	}
	if got := BytesInUse(); got != before {
		t.Errorf("%d bytes in use after Free, %d before", got, before)
	}
	// A piece that is used again is zero again.
	m, _ := Alloc(600)
	for _, b := range m.Bytes() {
		if b != 0 {
			t.Fatal("not cleared")
		}
	}
	m.Free()
	if _, err := Alloc(1 << 60); err == nil {
		t.Error("Alloc(2^60) succeeded")
	}
}

// TestMemCleanup lets the garbage collector find unreachable memory.
func TestMemCleanup(t *testing.T) {
	if !alone(t) {
		return
	}
	before := BytesInUse()
	for _, n := range []int{100, 1 << 20} {
		if _, err := Alloc(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; BytesInUse() > before; i++ {
		if i == 200 {
			t.Fatalf("%d bytes were never given back", BytesInUse()-before)
		}
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}

func TestSlabClass(t *testing.T) {
	for n := 1; n <= slabMax; n++ {
		c := slabClass(n)
		if size := slabMin << c; size < n || c > 0 && size/2 >= n || c >= numClass {
			t.Fatalf("%d bytes are of class %d", n, c)
		}
	}
}

func TestMemConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 500 {
				m, err := Alloc(1 + (i*977+g)%100000)
				if err != nil {
					t.Error(err)
					return
				}
				b := m.Bytes()
				if b[0] != 0 || b[len(b)-1] != 0 {
					t.Error("not zero")
				}
				b[0], b[len(b)-1] = byte(g)+1, byte(g)+1
				runtime.Gosched()
				if b[0] != byte(g)+1 {
					t.Error("shared")
				}
				m.Free()
			}
		}()
	}
	wg.Wait()
}

// TestPressure takes memory without keeping it and without making garbage on the Go heap: it
// must come back all the same, with nobody calling the collector.
func TestPressure(t *testing.T) {
	if !alone(t) {
		return
	}
	const size = 64 << 20
	pressure.Store(pressureMin)
	start := BytesInUse()
	for taken := int64(0); taken-(BytesInUse()-start) < pressureMin; taken += size {
		if taken > 100*pressureMin {
			t.Fatalf("%d MB were taken, %d MB are in use", taken>>20, BytesInUse()>>20)
		}
		if _, err := Alloc(size); err != nil {
			t.Fatal(err)
		}
		for pressure.Load() == collecting {
			time.Sleep(time.Millisecond)
		}
	}
}

func TestPoolClass(t *testing.T) {
	for _, n := range []int{slabMax + 1, 80 << 10, 80<<10 + 1, 1 << 20, 1<<20 + 1, 5 << 20, 1<<40 + 12345} {
		c := poolClass(n)
		if size := poolBytes(c); size < n || size-n >= n/4+pageBytes || size%pageBytes != 0 || c >= poolClasses {
			t.Errorf("%d bytes are of class %d with %d", n, c, size)
		}
		if c > 0 && poolBytes(c-1) >= n {
			t.Errorf("%d bytes fit class %d", n, c-1)
		}
	}
}

// TestPool takes blocks again, and lets the pool rest.
func TestPool(t *testing.T) {
	if !alone(t) {
		return
	}
	before := BytesInUse()
	for _, n := range []int{100, 70 << 10, 3 << 20} {
		a, _, err := Take(n, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Bytes() {
			a.Bytes()[i] = 0xAA
		}
		a.Give(false)
		b, zero, _ := Take(n-1, true)
		if b.Addr() != a.Addr() || b.Addr()%Align != 0 || n >= hugePage && b.Addr()%hugePage != 0 {
			t.Errorf("%d bytes at %x after %x", n, b.Addr(), a.Addr())
		}
		c, fresh, _ := TakeNew(n)
		if c.Addr() == b.Addr() || zero || fresh != (n > slabMax) {
			t.Errorf("%d bytes: zero %v, then at %x, zero %v", n, zero, c.Addr(), fresh)
		}
		c.Drop()
		b.Give(false)
	}
	if _, _, err := Take(1<<60, false); err == nil {
		t.Error("Take(2^60) succeeded")
	}
	if BytesInUse() != before {
		t.Errorf("%d bytes in use, %d before", BytesInUse(), before)
	}
	for i := 0; ; i++ {
		pool.Lock()
		n := pool.bytes
		pool.Unlock()
		if n == 0 {
			break
		}
		if i == 500 {
			t.Fatalf("%d bytes rest in the pool for ever", n)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestPoolZeros gives a block of zeros back, which those get who want zeros.
func TestPoolZeros(t *testing.T) {
	if !alone(t) {
		return
	}
	const n = 100 << 10
	a, _, _ := TakeNew(n)
	b, _, _ := TakeNew(n)
	a.Give(true)
	b.Give(false)
	c, zero, _ := Take(n, false)
	d, alsoZero, _ := Take(n, true)
	if c != b || d != a || zero || !alsoZero {
		t.Errorf("%x, %v and %x, %v after %x, %x", c.Addr(), zero, d.Addr(), alsoZero, a.Addr(), b.Addr())
	}
	c.Drop()
	d.Drop()
}

// TestTrimPool gives back what waits in the pool, and leaves as much as may.
func TestTrimPool(t *testing.T) {
	if !alone(t) {
		return
	}
	var bs []Block
	for range 3 {
		b, _, err := Take(1<<20, false)
		if err != nil {
			t.Fatal(err)
		}
		bs = append(bs, b)
	}
	for _, b := range bs {
		b.Give(false)
	}
	for _, most := range []int{1 << 20, 0} {
		TrimPool(int64(most))
		pool.Lock()
		if pool.bytes > most || most > 0 && pool.bytes == 0 {
			t.Errorf("%d bytes in the pool, at most %d are wanted", pool.bytes, most)
		}
		pool.Unlock()
	}
}

// TestPoolBound gives back more than the pool may hold; nothing is touched, so it costs no memory.
func TestPoolBound(t *testing.T) {
	if !alone(t) {
		return
	}
	var bs []Block
	for range 5 {
		b, _, err := Take(poolMax/4, false)
		if err != nil {
			t.Fatal(err)
		}
		bs = append(bs, b)
	}
	for _, b := range bs {
		b.Give(false)
	}
	pool.Lock()
	defer pool.Unlock()
	if pool.bytes > poolMax || pool.bytes < poolMax/2 {
		t.Errorf("%d bytes in the pool", pool.bytes)
	}
	for dropLargest() {
	}
}
