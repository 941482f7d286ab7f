package file

import (
	"context"
	"io"
	"math"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// loadText reads CSV, text or JSON files: one goroutine cuts them into blocks, the others make a segment of each.
func (s *Source) loadText(ctx context.Context, table *catalog.Table, opts LoadOptions) ([]*catalog.Segment, error) {
	var total int64
	for _, f := range s.files {
		total += f.size
	}
	for _, f := range s.files {
		if err := f.once(); err != nil {
			return nil, err
		}
		defer f.close()
	}
	c := newCollector(opts, total)
	// A worker has one block, another waits for it; buffers come back here.
	blocks := make(chan *block)
	free := make(chan []byte, opts.Threads+1)
	var wg sync.WaitGroup
	for range opts.Threads {
		wg.Go(func() {
			r := s.newBlockReader(table, opts)
			defer r.sb.Close()
			for b := range blocks {
				if !c.moot(b.seq) {
					if seg, err := r.segment(ctx, b); err != nil {
						c.fail(b.seq, err)
					} else if seg != nil {
						c.put(b.seq, []*catalog.Segment{seg})
					}
					c.report(b.done)
				}
				select {
				case free <- b.buf:
				default:
				}
			}
		})
	}
	room := &countedRoom{acct: opts.Account}
	defer room.close()
	s.cutBlocks(ctx, c, room, blocks, free)
	close(blocks)
	wg.Wait()
	if ctx.Err() != nil {
		c.fail(math.MaxInt, diag.Canceled(ctx))
	}
	return c.result()
}

// cutBlocks hands out blocks until there are no more or one has failed.
func (s *Source) cutBlocks(ctx context.Context, c *collector, room *countedRoom, blocks chan<- *block, free <-chan []byte) {
	cut := s.newCutter(ctx, s.files)
	defer cut.close()
	base := cut.common()
	base.room = room
	if limit := room.acct.Limit(); limit > 0 {
		base.size = int(max(min(int64(base.size), limit/16), readBytes))
	}
	if s.tune != nil {
		s.tune(base)
	}
	for !c.moot(base.seq) {
		var buf []byte
		select {
		case buf = <-free:
		default:
		}
		b, err := nextBlock(cut, buf)
		if err == io.EOF {
			return
		}
		if err != nil {
			c.fail(base.seq, err)
			return
		}
		select {
		case blocks <- b:
		case <-ctx.Done():
			return
		}
	}
}
