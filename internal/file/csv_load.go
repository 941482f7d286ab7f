package file

import (
	"context"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// loadCSV reads text files: one goroutine splits them into blocks, the others make a segment of each.
func (s *Source) loadCSV(ctx context.Context, table *catalog.Table, opts LoadOptions) ([]*catalog.Segment, error) {
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
			r := newRowParser(ctx, s, table, opts)
			r.sb.Account = opts.Account
			defer r.sb.Close()
			for b := range blocks {
				if !c.moot(b.seq) {
					if seg, err := parseBlock(r, b); err != nil {
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
	s.split(ctx, c, room, blocks, free)
	close(blocks)
	wg.Wait()
	if ctx.Err() != nil {
		c.fail(math.MaxInt, canceled(ctx))
	}
	return c.result()
}

// parseBlock keeps a bug of ours from taking the process down.
func parseBlock(r *rowParser, b *block) (seg *catalog.Segment, err error) {
	defer diag.Recover("load csv", &err)
	return r.segment(b)
}

// split hands out blocks until there are no more or one has failed.
func (s *Source) split(ctx context.Context, c *collector, room *countedRoom, blocks chan<- *block, free <-chan []byte) {
	sp := newSplitter(ctx, s.csv, s.files)
	sp.room = room
	if limit := room.acct.Limit(); limit > 0 {
		sp.size = int(max(min(blockBytes, limit/16), readBytes))
	}
	if s.tune != nil {
		s.tune(sp)
	}
	defer sp.close()
	for !c.moot(sp.seq) {
		var buf []byte
		select {
		case buf = <-free:
		default:
		}
		b, err := nextBlock(sp, buf)
		if err == io.EOF {
			return
		}
		if err != nil {
			c.fail(sp.seq, err)
			return
		}
		select {
		case blocks <- b:
		case <-ctx.Done():
			return
		}
	}
}

// countedRoom is Go's heap, counted for a statement until all is read: buffers are used again.
type countedRoom struct {
	acct  *budget.Account
	taken int64
}

func (r *countedRoom) grow(text []byte, more int) ([]byte, error) {
	n := int64(len(text) + more - cap(text))
	if n <= 0 {
		return text, nil
	}
	if cap(text) > 0 { // twice as much, so that a long row is not copied often
		n = max(n, int64(cap(text)))
	}
	if err := r.acct.Take(n); err != nil {
		return nil, err
	}
	r.taken += n
	return slices.Grow(text, cap(text)-len(text)+int(n)), nil
}

func (r *countedRoom) close() { r.acct.Give(r.taken) }

func nextBlock(sp *splitter, buf []byte) (b *block, err error) {
	defer diag.Recover("split csv", &err)
	return sp.next(buf)
}
