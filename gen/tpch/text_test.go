package tpch

import (
	"encoding/binary"
	"flag"
	"os"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

var rewrite = flag.Bool("rewrite", false, "write text.idx anew")

// TestTextIndex walks the text from its beginning, as the reference does, and compares the index with
// what it meets at the blocks' beginnings.
func TestTextIndex(t *testing.T) {
	var index []byte
	buf := make([]byte, 2*maxSentence)
	state := dbgen.Rand(textSeed)
	for pos := 0; pos < textSize; {
		n, next := english().put(buf, 0, state)
		if n > 255 {
			t.Fatalf("sentence of %d bytes at %d: too long for the index", n, pos)
		}
		if block := len(index) / indexEntry; pos+n > block*blockSize && block < blocks {
			index = binary.LittleEndian.AppendUint32(index, uint32(state))
			index = append(index, byte(block*blockSize-pos))
		}
		pos, state = pos+n, next
	}
	if *rewrite {
		if err := os.WriteFile("text.idx", index, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("text.idx written; run again to test it")
	}
	if string(index) != textIndex {
		t.Error("text.idx is not what -rewrite would write")
	}
}

// TestPick compares the integer formula with the reference's floating-point one at the ends of all
// intervals, where they would differ first.
func TestPick(t *testing.T) {
	const modulus = 1<<31 - 1
	for n := uint64(1); n < 1000; n++ {
		for k := range n {
			for d := range uint64(3) {
				state := k*modulus/n + d
				if state == 0 || state >= modulus {
					continue
				}
				want := uint64(float64(state) / modulus * float64(n))
				if got := pick(dbgen.Rand(state), n); got != want {
					t.Fatalf("pick(%d, %d) = %d, want %d", state, n, got, want)
				}
			}
		}
	}
}

// TestReleaseText generates while the text is being released.
func TestReleaseText(t *testing.T) {
	supplier, _ := gen.Lookup(Tables(), "supplier")
	var want, got gen.Batch
	supplier.Generate(0.01, 0, 100, &want)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 20 {
			ReleaseText()
		}
	}()
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		supplier.Generate(0.01, 0, 100, &got)
		if a, b := gen.AppendTbl(nil, &want), gen.AppendTbl(nil, &got); string(a) != string(b) {
			t.Fatal("other rows after ReleaseText")
		}
	}
}

func TestBuildText(t *testing.T) {
	BuildText(3)
	text := getText()
	for b := range text.ready {
		if !text.ready[b].Load() {
			t.Fatalf("block %d is not built", b)
		}
	}
}

func BenchmarkText(b *testing.B) {
	scratch := new([blockSize + 2*maxSentence]byte)
	b.SetBytes(textSize)
	for range b.N {
		for i := range blocks {
			buildBlock(scratch, i)
		}
	}
}
