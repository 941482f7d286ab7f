package file

import (
	"context"
	"io"
	"sync"

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
	mem := &loadRoom{acct: opts.Account}
	// A worker has one block, another waits for it; buffers come back here.
	blocks := make(chan *block)
	free := make(chan []byte, opts.Threads+1)
	var wg sync.WaitGroup
	for range opts.Threads {
		wg.Go(func() {
			r := newRowParser(ctx, s, table, opts)
			for b := range blocks {
				if !c.moot(b.seq) {
					if seg, err := parseBlock(r, b, mem); err != nil {
						c.fail(b.seq, err)
					} else if seg != nil {
						c.put(b.seq, []*catalog.Segment{seg})
					}
					c.report(b.done)
				}
				select {
				case free <- b.buf:
				default:
					mem.drop(b.buf)
				}
			}
		})
	}
	s.split(ctx, c, blocks, free, mem, opts.Threads)
	close(blocks)
	wg.Wait()
	if ctx.Err() != nil && c.err == nil {
		return nil, canceled(ctx)
	}
	return c.result()
}

// parseBlock keeps a bug of ours from taking the process down.
func parseBlock(r *rowParser, b *block, mem *loadRoom) (seg *catalog.Segment, err error) {
	defer diag.Recover("load csv", &err)
	return r.segment(b, mem)
}

// split hands out blocks until there are no more or one has failed.
func (s *Source) split(ctx context.Context, c *collector, blocks chan<- *block, free <-chan []byte, mem *loadRoom, threads int) {
	sp := newSplitter(ctx, s.csv, s.files)
	sp.room, sp.size = mem, mem.blockSize(threads)
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

func nextBlock(sp *splitter, buf []byte) (b *block, err error) {
	defer diag.Recover("split csv", &err)
	return sp.next(buf)
}
