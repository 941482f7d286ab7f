package device

import "fmt"

// Which work comes before which. Work of one stream is in order; work of two is only where one
// waits for a mark of the other, or where the host has waited for the first before it queued the
// second. Each stream has a clock that counts its calls and knows how far all others have come for
// sure when it does its next work: vector clocks, as race detectors have them.

// moment is a call of a stream.
type moment struct {
	stream int
	call   uint64
}

// clock is, by stream, the last call that is known to be done.
type clock []uint64

func (c *clock) join(o clock) {
	for len(*c) < len(o) {
		*c = append(*c, 0)
	}
	for i, n := range o {
		(*c)[i] = max((*c)[i], n)
	}
}

func (c clock) reached(m moment) bool { return m.stream < len(c) && c[m.stream] >= m.call }

// has reports whether all of another clock is known.
func (c clock) has(o clock) bool {
	for i, n := range o {
		if n > 0 && !c.reached(moment{i, n}) {
			return false
		}
	}
	return true
}

// order is what a device knows of its streams.
type order struct {
	host  clock
	calls []uint64 // by stream: how many it has made
	idle  []int    // numbers of streams that were closed
}

// queue is a stream's place in the order.
type queue struct {
	stream int
	clock  clock
}

// open numbers a stream. Numbers are used again, and their calls are counted on: the new stream
// then seems to follow the old one, which hides some mistakes and invents none.
func (o *order) open() queue {
	if n := len(o.idle); n > 0 {
		i := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return queue{stream: i}
	}
	o.calls = append(o.calls, 0)
	return queue{stream: len(o.calls) - 1}
}

func (o *order) close(q *queue) { o.idle = append(o.idle, q.stream) }

// call counts a call of a stream, which comes after all that the host has seen.
func (o *order) call(q *queue) moment {
	q.clock.join(o.host)
	o.calls[q.stream]++
	m := moment{q.stream, o.calls[q.stream]}
	for len(q.clock) <= m.stream {
		q.clock = append(q.clock, 0)
	}
	q.clock[m.stream] = m.call
	return m
}

// uses is what is known of a block of memory: since when it exists and who used it last.
type uses struct {
	born moment // call 0: always there
	last []moment
}

// use notes that a stream touches the block.
func (o *order) use(u *uses, q *queue, m moment) error {
	if u.born.call > 0 && !q.clock.reached(u.born) {
		return fmt.Errorf("stream %d uses memory that stream %d allocated, and does not wait for that", q.stream, u.born.stream)
	}
	for i := range u.last {
		if u.last[i].stream == m.stream {
			u.last[i] = m
			return nil
		}
	}
	u.last = append(u.last, m)
	return nil
}

// over checks that all uses come before a clock, which is who's.
func (o *order) over(u *uses, c clock, who string) error {
	for _, m := range u.last {
		if !c.reached(m) {
			return fmt.Errorf("%s frees memory that stream %d may still be using, and does not wait for that", who, m.stream)
		}
	}
	if u.born.call > 0 && !c.reached(u.born) {
		return fmt.Errorf("%s frees memory that stream %d allocated, and does not wait for that", who, u.born.stream)
	}
	return nil
}
