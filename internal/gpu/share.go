package gpu

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A query whose columns do not fit under the limit, all together, takes half of what others leave of it, so that there is room for more of its kind
// to run at the same time, and holds as many columns as fit into half of that. Of the rest, texts stay in
// memory of the host that the device reaches, since tuples point to them until the query ends, and other columns stream in chunks
// of rows (stream.go).

// part is how a column that is not held as a whole comes to the device.
type part uint8

const (
	far      part = iota + 1 // the device reads it over the bus, row by row
	streamed                 // in chunks of rows
)

// total is how many bytes things take.
func total(wants []want) (n int64) {
	for _, w := range wants {
		n += w.bytes
	}
	return n
}

// leastShare is the part of the limit that a query waits for rather than to stream through less.
const leastShare = 8

// share decides which of the things that a program wants it holds, and how large the blocks are that the others stream through.
// mu is held.
func (l *lease) share(prog *pipe.Program, wants []want, limit int64) []want {
	l.parts = map[itemKey]part{}
	var out []want
	held := int64(0)
	bytes := func(w want, bound int64) int64 {
		if it := l.s.held[w.key]; it != nil {
			return it.bytes
		}
		return bound
	}
	for _, w := range wants {
		if w.snap == nil {
			out = append(out, w)
			held += bytes(w, w.bytes)
		}
	}
	limit -= limit / 32 // what dictionaries take is a guess
	dicts := held
	least, _ := blocksOf(prog, l.block, func(snap *catalog.Snapshot, ord int) bool { return !isText(snap, ord) })
	limit = min(limit, max((limit-l.s.pinned)/2, limit/leastShare, dicts+2*least))
	most := min(limit/2, limit-least)
	if !l.feed.Whole() {
		most = 0
	}
	for _, ready := range []bool{true, false} { // what is there already stays
		for _, w := range wants {
			if w.snap == nil || l.s.held[w.key].isReady() != ready {
				continue
			}
			w.bytes = bytes(w, bytesOf(w.snap, w.key.ord, l.packed(w.snap, w.key.ord)))
			switch {
			case held+w.bytes <= most && (ready || !l.pass):
				held += w.bytes
				out = append(out, w)
			case isText(w.snap, w.key.ord):
				l.parts[w.key] = far
				w.key.far, w.bytes = true, 0
				out = append(out, w)
			default:
				l.parts[w.key] = streamed
			}
		}
	}
	least, l.blocks = blocksOf(prog, l.block, func(snap *catalog.Snapshot, ord int) bool { return l.parts[keyOf(snap, ord)] == streamed })
	l.blocks = max(min(l.blocks, limit-held), least)
	return append(out, want{key: itemKey{by: l}, bytes: l.blocks})
}

// blocksOf is how many bytes the blocks of a program's scans, one of which has so many at the most, take at least and at most, if such
// columns stream. Scans come one after the other.
func blocksOf(prog *pipe.Program, block int64, streams func(snap *catalog.Snapshot, ord int) bool) (least, most int64) {
	for _, p := range prog.Pipelines {
		t, ok := p.Source.(*pipe.Table)
		if !ok {
			continue
		}
		scan := &tableScan{snap: t.Scan.Snap}
		for _, ord := range t.Scan.Ordinal {
			if streams(t.Scan.Snap, ord) {
				scan.cols = append(scan.cols, streamedColumn(t.Scan.Snap, ord))
			}
		}
		least = max(least, streamBlocks*scan.blockBytes(streamRows))
		most = max(most, streamBlocks*min(scan.blockBytes(t.Scan.Snap.Rows+streamRows), block))
	}
	return least, most
}

// streamedColumn has the form of a column, and no data.
func streamedColumn(snap *catalog.Snapshot, ord int) *deviceColumn {
	c := &deviceColumn{dict: snap.Stats[ord].Dict, streamed: true}
	c.shape, c.base = shapeOf(snap, ord)
	return c
}

func isText(snap *catalog.Snapshot, ord int) bool {
	sh, _ := shapeOf(snap, ord)
	return sh.Enc == column.EncStr
}

// bytesOf bounds what a column takes on the device, packed in such a way.
func bytesOf(snap *catalog.Snapshot, ord int, form packing) int64 {
	sh, _ := shapeOf(snap, ord)
	rows := snap.Rows + emit.ArrayPad
	n := int64(form.bytesOf(int(rows), int(sh.Width)))
	if sh.Nulls {
		n += rows
	}
	if sh.Enc == column.EncStr {
		n += int64(snap.Stats[ord].AvgLen*float64(snap.Rows)) + column.TextPad
	}
	return n
}

// takePinned lends a block of n bytes of the host that the device reaches.
func (s *Store) takePinned(n int) (*device.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range s.blocks {
		if len(h.Bytes) >= n {
			s.blocks = append(s.blocks[:i], s.blocks[i+1:]...)
			return h, nil
		}
	}
	return s.dev.Pinned(n)
}

// givePinned takes it back, and keeps as many as one scan needs: pinning is slow.
func (s *Store) givePinned(h *device.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocks = append(s.blocks, h)
	for len(s.blocks) > streamBlocks {
		smallest := 0
		for i := range s.blocks {
			if len(s.blocks[i].Bytes) < len(s.blocks[smallest].Bytes) {
				smallest = i
			}
		}
		_ = s.blocks[smallest].Free()
		s.blocks = append(s.blocks[:smallest], s.blocks[smallest+1:]...)
	}
}
