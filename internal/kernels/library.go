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
	info  device.Info
}

// functions are all kernels of the library.
func functions() []*ir.Func {
	return []*ir.Func{fill(), pairOrder().Kernel(), prefixSums(), prefix()}
}

// Load makes the library for a device. Each kernel is a module of its own, compiled when it is first needed: whoever needs one waits for no other.
func Load(dev device.Device) *Library {
	return LoadBy(dev.Info(), func(name string, text func() (string, error)) (device.Code, error) {
		return device.LoadNamed(dev, name, text)
	})
}

// LoadBy is Load by a function that is to compile a text, unless it has stored its code by its name.
func LoadBy(info device.Info, load func(name string, text func() (string, error)) (device.Code, error)) *Library {
	l := &Library{codes: map[string]func() (device.Code, error){}, info: info}
	for _, f := range functions() {
		l.codes[f.Name] = sync.OnceValues(func() (device.Code, error) {
			return load(device.CodeName(info.Arch, f), func() (string, error) { return device.ModuleGPU(info.Arch, f) })
		})
	}
	return l
}

// maxValues bounds what one call takes: numbers of values are words.
const maxValues = 1 << 31

// blocksPerUnit is how many blocks of 256 threads a unit holds.
const blocksPerUnit = 8

// function is a kernel of the library.
func (l *Library) function(name string) (device.Function, error) {
	find := l.codes[name]
	if find == nil {
		return nil, fmt.Errorf("there is no kernel %s", name)
	}
	code, err := find()
	if err != nil {
		return nil, err
	}
	return code.Function(name)
}

// launch queues a kernel.
func (l *Library) launch(s device.Stream, name string, shape device.Shape, params ...uint64) error {
	f, err := l.function(name)
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
