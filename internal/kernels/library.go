package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Library is the kernels on a device. Its methods queue work on a stream and return.
type Library struct {
	codes map[string]func() (device.Code, error) // by the name of the kernel
	begin sync.Once
	info  device.Info
}

// functions are all kernels of the library.
func functions() []*ir.Func {
	fs := []*ir.Func{fill(), blockSums("onesums", elemOf(4), true), bitRows(), digitCounts(), movePairs(), histogram()}
	for _, bytes := range []int{4, 8} {
		fs = append(fs, blockSums(fmt.Sprintf("sums%d", bytes), elemOf(bytes), false), blockScans(fmt.Sprintf("scan%d", bytes), elemOf(bytes)))
	}
	return fs
}

// Load makes the library for a device. Each kernel is a module of its own, compiled when it is first needed: whoever needs one waits for no other.
func Load(dev device.Device) *Library { return LoadBy(dev.Info(), dev.Load) }

// LoadBy is Load by a function that is to compile texts.
func LoadBy(info device.Info, load func(text string) device.Code) *Library {
	l := &Library{codes: map[string]func() (device.Code, error){}, info: info}
	for _, f := range functions() {
		l.codes[f.Name] = sync.OnceValues(func() (device.Code, error) {
			text, err := device.ModuleGPU(info.Arch, f)
			if err != nil {
				return nil, err
			}
			return load(text), nil
		})
	}
	return l
}

// Begin begins to compile all kernels.
func (l *Library) Begin() {
	l.begin.Do(func() {
		for _, code := range l.codes {
			go code()
		}
	})
}

// maxValues bounds what one call takes: numbers of values are words.
const maxValues = 1 << 31

// blocksPerUnit is how many blocks of 256 threads a unit holds.
const blocksPerUnit = 8

// launch queues a kernel.
func (l *Library) launch(s device.Stream, name string, shape device.Shape, params ...uint64) error {
	find := l.codes[name]
	if find == nil {
		return fmt.Errorf("there is no kernel %s", name)
	}
	code, err := find()
	if err != nil {
		return err
	}
	f, err := code.Function(name)
	if err != nil {
		return err
	}
	return s.Launch(f, shape, append([]uint64{0}, params...)...)
}

// share cuts n values into whole tiles for as many blocks as the device holds at once.
func (l *Library) share(n, tile int) (blocks, size int) {
	tiles := (n + tile - 1) / tile
	blocks = max(1, min(tiles, blocksPerUnit*l.info.Units))
	size = (tiles + blocks - 1) / blocks * tile
	return (n + max(size, 1) - 1) / max(size, 1), size
}

// check refuses what kernels could not address.
func check(what string, n int, addrs ...device.Addr) error {
	if n < 0 || n > maxValues {
		return fmt.Errorf("%s: %d values are not from 0 to %d", what, n, maxValues)
	}
	for _, a := range addrs {
		if a%16 != 0 {
			return fmt.Errorf("%s: %#x is not a multiple of 16", what, a)
		}
	}
	return nil
}

// Fill stores a value of width 4 or 8 bytes n times.
func (l *Library) Fill(s device.Stream, dst device.Addr, width int, value uint64, n int) error {
	if err := check("fill", n, dst); err != nil || n == 0 {
		return err
	}
	words := n
	switch width {
	case 4:
		value = value<<32 | value&(1<<32-1)
	case 8:
		words *= 2
	default:
		return fmt.Errorf("fill: values of %d bytes", width)
	}
	blocks, _ := l.share(words, 4*threads)
	return l.launch(s, "fill", device.Shape{Blocks: blocks, Threads: threads}, uint64(dst), uint64(words/4), uint64(words%4), value)
}

// oneBlock is the number of values up to which one block makes a prefix sum as fast as many.
const oneBlock = 1 << 13

// Scan makes the exclusive prefix sums of n values of width 4 or 8 bytes, which wrap: out[i] is the sum of
// in[0] to in[i-1]. The sum of all goes to total, unless that is 0. In and out may be the same.
func (l *Library) Scan(s device.Stream, out, in device.Addr, width, n int, total device.Addr) error {
	if width != 4 && width != 8 {
		return fmt.Errorf("scan: values of %d bytes", width)
	}
	if err := check("scan", n, in, out); err != nil {
		return err
	}
	name := fmt.Sprintf("scan%d", width)
	tile := int(elemOf(width).tile())
	if n <= oneBlock {
		return l.launch(s, name, device.Shape{Blocks: 1, Threads: threads}, uint64(in), uint64(n), oneBlock, 0, uint64(out), uint64(total))
	}
	blocks, size := l.share(n, tile)
	shape := device.Shape{Blocks: blocks, Threads: threads}
	return temporary(s, width*blocks, func(sums device.Addr) error {
		err := l.launch(s, fmt.Sprintf("sums%d", width), shape, uint64(in), uint64(n), uint64(size), uint64(sums))
		if err == nil {
			err = l.Scan(s, sums, sums, width, blocks, total)
		}
		if err == nil {
			err = l.launch(s, name, shape, uint64(in), uint64(n), uint64(size), uint64(sums), uint64(out), 0)
		}
		return err
	})
}

// temporary lends memory.
func temporary(s device.Stream, bytes int, f func(a device.Addr) error) error {
	a, err := s.Alloc(bytes)
	if err != nil {
		return err
	}
	if err := f(a); err != nil {
		if device.KindOf(err) == device.Lost || device.KindOf(err) == device.Faulted {
			return err
		}
		return errors.Join(err, s.Free(a))
	}
	return s.Free(a)
}

// oneBlockBits is the number of words of a bitmap up to which one block lists its ones as fast as many.
const oneBlockBits = 1 << 10

// Compact writes the numbers, of 4 bytes, of those of n rows whose bit is set, in order, and how many
// they are to count (4 bytes). The bitmap has words of 32 rows; bits behind the last row are 0.
func (l *Library) Compact(s device.Stream, rows, bitmap device.Addr, n int, count device.Addr) error {
	if err := check("compact", n, bitmap); err != nil {
		return err
	}
	if n == 0 {
		return s.Fill(count, 0, 4)
	}
	words := (n + 31) / 32
	if words <= oneBlockBits {
		return l.launch(s, "bitrows", device.Shape{Blocks: 1, Threads: threads}, uint64(bitmap), uint64(words), oneBlockBits, 0, uint64(rows), uint64(count))
	}
	blocks, size := l.share(words, int(elemOf(4).tile()))
	shape := device.Shape{Blocks: blocks, Threads: threads}
	return temporary(s, 4*blocks, func(sums device.Addr) error {
		err := l.launch(s, "onesums", shape, uint64(bitmap), uint64(words), uint64(size), uint64(sums))
		if err == nil {
			err = l.Scan(s, sums, sums, 4, blocks, count)
		}
		if err == nil {
			err = l.launch(s, "bitrows", shape, uint64(bitmap), uint64(words), uint64(size), uint64(sums), uint64(rows), 0)
		}
		return err
	})
}

// Pairs are keys of 8 bytes and values of 4, in two arrays.
type Pairs struct{ Keys, Values device.Addr }

// Sort orders n pairs by the bits of their keys from one up to, and without, another, as unsigned
// numbers; equal ones stay in order. It moves them between a and b, and returns which has the result.
func (l *Library) Sort(s device.Stream, a, b Pairs, n, fromBit, toBit int) (Pairs, error) {
	if fromBit < 0 || toBit > 64 || fromBit > toBit {
		return a, fmt.Errorf("sort: bits %d to %d of a key", fromBit, toBit)
	}
	if err := check("sort", n, a.Keys, a.Values, b.Keys, b.Values); err != nil || n < 2 {
		return a, err
	}
	blocks, size := l.share(n, moveTile)
	shape := device.Shape{Blocks: blocks, Threads: threads}
	err := temporary(s, 4*digits*blocks, func(counts device.Addr) error {
		for bit := fromBit; bit < toBit; bit += digitBits {
			shift, mask := uint64(bit), uint64(1)<<min(digitBits, toBit-bit)-1
			err := l.launch(s, "digitcounts", shape, uint64(a.Keys), uint64(n), uint64(size), shift, mask, uint64(counts))
			if err == nil {
				err = l.Scan(s, counts, counts, 4, digits*blocks, 0)
			}
			if err == nil {
				err = l.launch(s, "movepairs", shape, uint64(a.Keys), uint64(a.Values), uint64(n), uint64(size), shift, mask,
					uint64(counts), uint64(b.Keys), uint64(b.Values))
			}
			if err != nil {
				return err
			}
			a, b = b, a
		}
		return nil
	})
	return a, err
}

// histogramCopies bounds how many cells a block keeps for a number.
const histogramCopies = 8

// Histogram counts how often each number below bins occurs among n numbers of 4 bytes, and adds that to
// counts, of 4 bytes. Bins fit a block's shared memory.
func (l *Library) Histogram(s device.Stream, counts, numbers device.Addr, n, bins int) error {
	if err := check("histogram", n, numbers); err != nil || n == 0 {
		return err
	}
	if bins < 1 || 4*bins > l.info.BlockShared {
		return fmt.Errorf("histogram: %d bins do not fit %d bytes of shared memory", bins, l.info.BlockShared)
	}
	// As many copies as leave room for several blocks on a unit.
	copies := 1
	for copies < histogramCopies && 2*copies*4*bins <= l.info.UnitShared/blocksPerUnit {
		copies *= 2
	}
	blocks, size := l.share(n, int(elemOf(4).tile()))
	return l.launch(s, "histogram", device.Shape{Blocks: blocks, Threads: threads, Shared: 4 * bins * copies},
		uint64(numbers), uint64(n), uint64(size), uint64(bins), uint64(copies), uint64(counts))
}
