package gpu

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// codes finds the functions of a device by their IR. A query that comes again emits the same, and to write that as PTX
// would take longer than all other work of the host on it.
type codes struct {
	mu     sync.Mutex
	byHash map[uint64][]*compiled
	count  int
}

// compiled is a function and what it was made of.
type compiled struct {
	name   string
	code   []ir.Instr
	types  []ir.Type // of registers
	shared int
	local  int
	params int
	bound  int
	rolled int
	fn     device.Function
}

// maxCodes bounds the cache; a full one starts afresh.
const maxCodes = 4096

// find is the function of some IR; nil: there is none, or none that is good enough. quick: one will do that is not optimized.
func (c *codes) find(f *ir.Func, quick bool) (fn device.Function, hash uint64) {
	hash = hashOf(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.byHash[hash] {
		if k.is(f) {
			if k.fn = k.fn.Newest(); k.fn.Quick() && !quick {
				break
			}
			return k.fn, hash
		}
	}
	return nil, hash
}

// madeOf remembers what a function is made of.
func madeOf(f *ir.Func) *compiled {
	k := &compiled{name: f.Name, code: slices.Clone(f.Code), types: make([]ir.Type, len(f.Regs)), shared: f.SharedBytes, local: f.LocalBytes, params: f.Params, bound: f.Bound,
		rolled: f.Rolled}
	for i, r := range f.Regs {
		k.types[i] = r.Type
	}
	return k
}

func (c *codes) add(f *ir.Func, hash uint64, fn device.Function) {
	k := madeOf(f)
	k.fn = fn
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.byHash[hash] {
		if known.is(f) { // it was not good enough, or another query was faster
			if known.fn.Quick() {
				known.fn = fn
			}
			return
		}
	}
	if c.byHash == nil || c.count >= maxCodes {
		c.byHash, c.count = map[uint64][]*compiled{}, 0
	}
	c.byHash[hash] = append(c.byHash[hash], k)
	c.count++
}

// is reports that k is the function f, whatever its comments and names of registers say.
func (k *compiled) is(f *ir.Func) bool {
	return k.name == f.Name && k.shared == f.SharedBytes && k.local == f.LocalBytes && k.params == f.Params && k.bound == f.Bound && k.rolled == f.Rolled && slices.Equal(k.code, f.Code) &&
		slices.EqualFunc(k.types, f.Regs, func(t ir.Type, r ir.RegInfo) bool { return t == r.Type })
}

func hashOf(f *ir.Func) uint64 {
	h := uint64(len(f.Code))
	mix := func(x uint64) {
		hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	for i := range f.Code {
		in := &f.Code[i]
		mix(uint64(in.Op)<<56 ^ uint64(in.Cond)<<48 ^ uint64(in.D)<<24 ^ uint64(in.D2))
		mix(uint64(in.A.R)<<32 ^ uint64(in.B.R))
		mix(uint64(in.A.Imm) ^ bits.RotateLeft64(uint64(in.B.Imm), 32))
		mix(uint64(in.M.Base)<<40 ^ uint64(in.M.Index)<<20 ^ uint64(uint32(in.M.Disp)))
	}
	return h
}
