package session

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// Large results become batches on several threads, a few batches ahead of who takes them.

// ahead is how many batches are made before they are asked for, per thread.
const ahead = 2

// span is the rows of a batch, or of several where texts are long.
type span struct {
	pos int64
	n   int
}

// spans cuts the result into batches.
func (r *Result) spans() []span {
	out := make([]span, 0, r.Rows/BatchRows+1)
	rd := r.exec.NewReader()
	for pos := int64(0); pos < r.Rows; {
		n := rd.Fit(pos, BatchRows)
		out = append(out, span{pos, n})
		pos += int64(n)
	}
	return out
}

// fetcher makes batches on goroutines of its own.
type fetcher struct {
	r     *Result
	spans []span
	next  atomic.Int64
	slots []chan fetched // span i comes through slot i % len(slots)
	free  chan struct{}  // one for each span that may be begun
	stop  chan struct{}
	done  sync.WaitGroup
	at    int // the span to deliver from
}

type fetched struct {
	batch arrow.RecordBatch
	err   error
	last  bool // of its span
}

func (r *Result) newFetcher(threads int) *fetcher {
	f := &fetcher{r: r, spans: r.spans(), stop: make(chan struct{})}
	n := ahead * threads
	f.slots, f.free = make([]chan fetched, n), make(chan struct{}, n)
	for i := range f.slots {
		f.slots[i] = make(chan fetched, 1)
		f.free <- struct{}{}
	}
	r.Schema() // made once
	for range threads {
		f.done.Add(1)
		go f.work()
	}
	return f
}

func (f *fetcher) work() {
	defer f.done.Done()
	rd := f.r.exec.NewReader()
	for {
		select {
		case <-f.stop:
			return
		case <-f.free:
		}
		i := int(f.next.Add(1) - 1)
		if i >= len(f.spans) {
			return
		}
		for sp, last := f.spans[i], false; !last; {
			b, err := f.r.batchAt(rd, sp.pos, sp.n)
			if last = err != nil; !last {
				sp.pos, sp.n = sp.pos+b.NumRows(), sp.n-int(b.NumRows())
				last = sp.n == 0
			}
			select {
			case f.slots[i%len(f.slots)] <- fetched{b, err, last}:
			case <-f.stop:
				if b != nil {
					b.Release()
				}
				return
			}
		}
	}
}

// take is the next batch, nil at the end.
func (f *fetcher) take() (arrow.RecordBatch, error) {
	if f.at == len(f.spans) {
		return nil, nil
	}
	x := <-f.slots[f.at%len(f.slots)]
	if x.last {
		f.at++
		f.free <- struct{}{}
	}
	return x.batch, x.err
}

// close ends the goroutines and drops what they have made.
func (f *fetcher) close() {
	close(f.stop)
	f.done.Wait()
	for _, s := range f.slots {
		select {
		case x := <-s:
			if x.batch != nil {
				x.batch.Release()
			}
		default:
		}
	}
}
