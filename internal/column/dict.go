package column

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
)

// MaxDict is the most entries a dictionary takes: two-byte codes, and a descriptor
// array that stays in a second-level cache.
const MaxDict = 1 << 16

// maxDictHeap bounds the bytes of a dictionary's long strings.
const maxDictHeap = 64 << 20

// Dict maps the strings of a table's column to small codes. All chunks of the column
// share it. It only grows: a code means the same string for ever, and any goroutine may
// look while others add.
type Dict struct {
	mu    sync.RWMutex
	codes map[string]uint32
	texts []string
	desc  *Mem // cap entries of 16 bytes; grows by copying
	heap  *Mem
	used  int // bytes of the heap
	ranks []uint32
	onGo  *int64 // bytes of codes and texts, which are on the Go heap; the process counts them while there is a Dict
}

// DictView is a dictionary at a moment: addresses that stay valid while the view is
// reachable, and good for every code below Len.
type DictView struct {
	Desc uintptr // Len StrDescs, 64-byte aligned
	Heap uintptr // what long ones point into
	Len  int

	desc, heap *Mem
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{codes: map[string]uint32{}} }

// entryBytes is about what an entry takes on the Go heap besides its string: in codes and in texts.
const entryBytes = 64

// View returns the present addresses. Even in an empty dictionary entry 0 can be read: it is
// what the code of a NULL means where a column has nothing else.
func (d *Dict) View() DictView {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.view()
}

func (d *Dict) view() DictView {
	v := DictView{Len: len(d.texts), desc: d.desc, heap: d.heap}
	if v.desc == nil {
		v.desc = noEntry()
	}
	v.Desc = v.desc.Addr()
	if d.heap != nil {
		v.Heap = d.heap.Addr()
	}
	return v
}

// noEntry is the descriptor of an empty text, for all dictionaries without any.
var noEntry = sync.OnceValue(func() *Mem {
	m, err := Alloc(descBytesSize + TextPad)
	if err != nil {
		panic(err)
	}
	return m
})

// Memory are the blocks that the view's addresses point into: descriptors and heap.
func (v *DictView) Memory() (desc uintptr, descSize int, heap uintptr, heapSize int) {
	desc, descSize = v.desc.span()
	heap, heapSize = v.heap.span()
	return
}

// Bytes is the string of a code, in place.
func (v *DictView) Bytes(code int) []byte {
	return descBytes(v.Desc+uintptr(code)*descBytesSize, v.Heap)
}

// At is the descriptor of a code's string.
func (v *DictView) At(code int) *StrDesc {
	return (*StrDesc)(pointer(v.Desc + uintptr(code)*descBytesSize))
}

// Len is the number of entries.
func (d *Dict) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.texts)
}

// Lookup finds the code of a string.
func (d *Dict) Lookup(s string) (code int, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c, ok := d.codes[s]
	return int(c), ok
}

// String is the string of a code.
func (d *Dict) String(code int) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.texts[code]
}

// Ranks is for each code the number of entries whose strings are smaller. They are kept until
// the dictionary grows; nobody may change them.
func (d *Dict) Ranks() []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ranks) == len(d.texts) {
		return d.ranks
	}
	codes := make([]uint32, len(d.texts))
	for i := range codes {
		codes[i] = uint32(i)
	}
	slices.SortFunc(codes, func(a, b uint32) int { return strings.Compare(d.texts[a], d.texts[b]) })
	ranks := make([]uint32, len(codes))
	for rank, c := range codes {
		ranks[c] = uint32(rank)
	}
	d.ranks = ranks
	return ranks
}

// add gives codes to all of keys, or to none: when they would make the dictionary too
// large, or when the chunk that wants them has too few rows to make them worth while. rows
// is the number of rows of that chunk. What they take is counted by acct; a dictionary never gives it back.
func (d *Dict) add(keys [][]byte, codes []uint32, rows int, acct *budget.Account) (v DictView, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh, bytes, onGo := 0, 0, 0
	for i, k := range keys {
		c, have := d.codes[string(k)]
		if !have {
			fresh++
			onGo += len(k) + entryBytes
			if len(k) > StrInline {
				bytes += len(k)
			}
		}
		codes[i] = c
	}
	n := len(d.texts) + fresh
	if n > MaxDict || d.used+bytes > maxDictHeap {
		return v, false, nil
	}
	// A small dictionary is always good: it makes a small domain known. A large one must
	// pay: else many small inserts would fill it with strings seen once.
	if fresh > 0 && n > smallDict && len(keys) > rows/8 {
		return v, false, nil
	}
	if err := d.reserve(n, d.used+bytes, acct); err != nil {
		return v, false, err
	}
	if fresh > 0 {
		if err := d.count(int64(onGo), acct); err != nil {
			return v, false, err
		}
		for i, k := range keys {
			c, have := d.codes[string(k)]
			if !have {
				c = d.put(string(k))
			}
			codes[i] = c
		}
	}
	return d.view(), true, nil
}

// smallDict is a size up to which a dictionary is used whatever the number of rows.
const smallDict = 256

// count has the process count bytes on the Go heap until the dictionary is gone, and the statement until it ends.
func (d *Dict) count(n int64, acct *budget.Account) error {
	if err := acct.Hold(n); err != nil {
		return err
	}
	if err := budget.Process.Take(n); err != nil {
		acct.Drop(n)
		return err
	}
	if d.onGo == nil {
		d.onGo = new(int64)
		runtime.AddCleanup(d, func(n *int64) { budget.Process.Give(*n) }, d.onGo)
	}
	*d.onGo += n
	return nil
}

// reserve makes room for n entries and a heap of the given bytes.
func (d *Dict) reserve(n, bytes int, acct *budget.Account) error {
	if need := (n+1)*descBytesSize + TextPad; d.desc == nil || d.desc.Size() < need {
		m, err := grown(d.desc, len(d.texts)*descBytesSize, need, acct)
		if err != nil {
			return err
		}
		d.desc = m
	}
	if need := bytes + TextPad; bytes > 0 && (d.heap == nil || d.heap.Size() < need) {
		m, err := grown(d.heap, d.used, need, acct)
		if err != nil {
			return err
		}
		d.heap = m
	}
	return nil
}

// grown is a larger copy of m. The old one stays for the views that refer to it.
func grown(m *Mem, used, need int, acct *budget.Account) (*Mem, error) {
	size := 512
	for size < need {
		size *= 2
	}
	if err := acct.Hold(int64(size)); err != nil {
		return nil, err
	}
	bigger, err := Alloc(size)
	if err != nil {
		acct.Drop(int64(size))
		return nil, err
	}
	if m != nil {
		copy(bigger.Bytes(), m.Bytes()[:used])
	}
	return bigger, nil
}

// put adds a string, for which reserve has made room.
func (d *Dict) put(s string) uint32 {
	code := uint32(len(d.texts))
	desc := slice[StrDesc](d.desc.Addr(), int(code)+1)
	if len(s) > StrInline {
		copy(d.heap.Bytes()[d.used:], s)
	}
	desc[code] = makeDesc([]byte(s), d.used)
	if len(s) > StrInline {
		d.used += len(s)
	}
	d.texts = append(d.texts, s)
	d.codes[s] = code
	return code
}
