package result

import (
	"context"
	"errors"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fileOf is a segment's loader; loading column bad fails.
type fileOf struct{ bad, loads int }

var errDamaged = errors.New("damaged")

func (f *fileOf) Load(_ context.Context, col int, _ catalog.Need, take func(int) (uintptr, error)) (*column.Chunk, bool, error) {
	f.loads++
	if col == f.bad {
		return nil, false, errDamaged
	}
	a, err := take(4096)
	return &column.Chunk{Type: types.TInt64, Data: a}, false, err
}
func (f *fileOf) Cost(int) int64                                    { return 1 }
func (f *fileOf) Join(this, next *catalog.Segment) *catalog.Segment { return nil }

// TestLoadPart: the columns of a part are in memory, once each, until it is released, and not at all if one of them cannot
// be loaded.
func TestLoadPart(t *testing.T) {
	m := mem.New(nil, true, false)
	defer m.Close()
	good, damaged := &fileOf{bad: -1}, &fileOf{bad: 2}
	segment := func(f *fileOf) *catalog.Segment {
		return &catalog.Segment{Rows: 10, Chunks: make([]*column.Chunk, 3), Loader: f}
	}
	snap := &catalog.Snapshot{Segments: []*catalog.Segment{segment(good), segment(good), segment(damaged)}}
	r := OfTable(Owned{Mem: m}, NewTable(snap, []int{0, 2, 0}, 12, -1), true)
	parts := r.Parts(4)
	if len(parts) != 2 || parts[0] != (Part{0, 8, 1}) || parts[1] != (Part{8, 18, 2}) {
		t.Fatal("parts", parts)
	}
	release, err := r.Load(t.Context(), parts[0])
	if err != nil {
		t.Fatal(err)
	}
	if s := r.scan.segs[1]; s.Chunks[0] == nil || s.Chunks[1] != nil || s.Chunks[2] == nil || s.Loader != nil {
		t.Errorf("loaded: %+v", s)
	}
	if good.loads != 2 || len(m.Blocks()) != 2 {
		t.Errorf("%d loads, %d blocks", good.loads, len(m.Blocks()))
	}
	release()
	if len(m.Blocks()) != 0 || r.scan.segs[1] != snap.Segments[1] {
		t.Errorf("after release: %d blocks", len(m.Blocks()))
	}
	if _, err := r.Load(t.Context(), parts[1]); err != errDamaged {
		t.Error("got", err)
	}
	if len(m.Blocks()) != 0 || r.scan.segs[2] != snap.Segments[2] {
		t.Errorf("after a failure: %d blocks", len(m.Blocks()))
	}
}
