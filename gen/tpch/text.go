package tpch

import (
	_ "embed"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// textSize is the size of the text that comments are cut from. It is a property of the benchmark.
const textSize = 300 << 20

// textSeed starts the random stream of the text.
const textSeed = 933588178

// The text is built in blocks, each when a comment first falls into it. In the reference a sentence can
// only be built after all sentences before it. What makes the blocks independent is textIndex, which
// has for each block the random state before the sentence in which the block begins, and how many bytes
// of that sentence lie before the block. The test that checks the index also writes it (-rewrite).
const (
	blockBits = 16
	blockSize = 1 << blockBits
	blocks    = textSize / blockSize

	indexEntry = 5 // bytes: state, little-endian, and the bytes before the block
)

//go:embed text.idx
var textIndex string

// text is the pool of sentences. Blocks are read without locks once they are marked as ready.
type text struct {
	bytes []byte // not touched, and so not in memory, where no block has been built
	ready [blocks]atomic.Bool
	locks [64]sync.Mutex // block i is built under locks[i%64]
}

var (
	theText  atomic.Pointer[text]
	textOnce sync.Mutex
)

// getText returns the pool of sentences, an empty one at first.
func getText() *text {
	if t := theText.Load(); t != nil {
		return t
	}
	textOnce.Lock()
	defer textOnce.Unlock()
	t := theText.Load()
	if t == nil {
		t = &text{bytes: make([]byte, textSize+short)}
		theText.Store(t)
	}
	return t
}

// ReleaseText drops the text that comments are made of, up to 300 MiB. It may be called at any time, for
// example after all tables have been loaded; tables that are generated later build what they need again.
func ReleaseText() { theText.Store(nil) }

// TextBytes is how much memory the text takes: all of it soon, as comments lie anywhere in it, and pages are large.
const TextBytes = textSize

// BuildText builds all of the text now, in the given number of goroutines. There is no need to call it,
// but a loader that goes table by table starts with small tables, which do not keep many processors busy
// with the text, while from a scale factor of 0.01 on nearly all of it will be needed.
func BuildText(workers int) {
	t := getText()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for b := next.Add(1) - 1; b < blocks; b = next.Add(1) - 1 {
				t.build(int(b))
			}
		})
	}
	wg.Wait()
}

// need makes sure that bytes [lo, hi) of the text are built, which must not be further apart than a
// block's size.
func (t *text) need(lo, hi int) {
	if b := lo >> blockBits; !t.ready[b].Load() {
		t.build(b)
	}
	if b := (hi - 1) >> blockBits; b < blocks && !t.ready[b].Load() {
		t.build(b)
	}
}

// scratch buffers hold a block with the sentences that reach over its ends.
var scratchPool = sync.Pool{New: func() any { return new([blockSize + 2*maxSentence]byte) }}

func (t *text) build(block int) {
	lock := &t.locks[block%len(t.locks)]
	lock.Lock()
	defer lock.Unlock()
	if t.ready[block].Load() {
		return
	}
	scratch := scratchPool.Get().(*[blockSize + 2*maxSentence]byte)
	defer scratchPool.Put(scratch)
	copy(t.bytes[block<<blockBits:(block+1)<<blockBits], buildBlock(scratch, block))
	t.ready[block].Store(true)
}

// buildBlock writes the sentences of a block and returns the block's bytes.
func buildBlock(scratch *[blockSize + 2*maxSentence]byte, block int) []byte {
	entry := textIndex[block*indexEntry:]
	state := dbgen.Rand(binary.LittleEndian.Uint32([]byte(entry[:4])))
	before := int(entry[4])
	language := english()
	for at := 0; at < before+blockSize; {
		at, state = language.put(scratch[:], at, state)
	}
	return scratch[before : before+blockSize]
}
