package gpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"weak"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A query takes a lease of all columns that its pipelines scan before it begins, of all or none: while those of queries that run
// leave too little room under the limit, it waits its turn. So queries never wait for each other in a circle, and the
// limit holds, whatever runs at the same time. Columns are copied when a pipeline wants them.

// lease is a query's use of things in the store, until release.
type lease struct {
	s *Store
	terms
	items map[itemKey]*item
	// parts are columns that are not held as a whole (share.go), blocks how many bytes those that stream have for that.
	parts  map[itemKey]part
	blocks int64
	// copies are the host's of columns that stream, by their keys on the device.
	copies map[itemKey]*item
}

// terms are what a query wishes of a lease.
type terms struct {
	limit int64 // bytes of the device that columns may take
	host  int64 // bytes of the host that copies of columns that stream may take; 0: none
	block int64 // bytes of a chunk, at the most
	pack  bool  // these copies have as few bits as they need
	feed  phys.Feed
	pass  bool // columns that are not on the device stream, whatever room there is
	// behind: nobody waits for it, so that it waits for nobody.
	behind bool
	// packed is how columns are packed that stay on the device.
	packed func(snap *catalog.Snapshot, ord int) packing
}

func termsOf(s *Store, opts *exec.Options) terms {
	t := terms{limit: s.Limit(opts.GPUMemory), block: cmp.Or(opts.FeedBlock, streamBytes), feed: opts.Feed, behind: opts.Behind, pack: !opts.Off.PackedCopies && opts.Feed != phys.FeedRunToFinish,
		packed: s.forms(opts)}
	if !opts.Off.HostCopies {
		t.host = s.hostLimit(opts.HostMemory)
	}
	return t
}

// want is a thing that a query will need, or may.
type want struct {
	key   itemKey
	bytes int64
	snap  *catalog.Snapshot
	dict  *column.Dict
}

// wantsOf lists the columns that a program scans, and their dictionaries, each once.
func wantsOf(prog *pipe.Program, packed func(snap *catalog.Snapshot, ord int) packing) (out []want) {
	seen := map[itemKey]bool{}
	add := func(w want) {
		if !seen[w.key] {
			seen[w.key] = true
			out = append(out, w)
		}
	}
	for _, p := range prog.Pipelines {
		t, ok := p.Source.(*pipe.Table)
		if !ok || isFile(t.Scan.Snap) {
			continue
		}
		snap := t.Scan.Snap
		for _, ord := range t.Scan.Ordinal {
			add(want{keyOf(snap, ord), expectedBytes(snap, ord, packed(snap, ord)), snap, nil})
			if st := &snap.Stats[ord]; st.Dict != nil {
				n := st.Dict.Len()
				add(want{dictKey(st.Dict, dictTexts, n), int64(float64(n+1)*(16+max(st.AvgLen, 0))) + 2*column.TextPad, nil, st.Dict})
			}
		}
	}
	return out
}

// complete reports that all columns of the lease are on the device. What a dictionary says is often not needed, so that it need not be there.
func (l *lease) complete() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for k, it := range l.items {
		if k.dict == (weak.Pointer[column.Dict]{}) && k.by == nil && !it.isReady() {
			return false
		}
	}
	return true
}

// lease waits until the columns of a program have room under the limit.
func (s *Store) lease(ctx context.Context, prog *pipe.Program, t terms) (*lease, error) {
	l := &lease{s: s, terms: t, items: map[itemKey]*item{}, copies: map[itemKey]*item{}}
	limit := t.limit
	all := wantsOf(prog, t.packed)
	wants := all
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.feed.Keeps() {
		l.dropColumns(all)
	}
	l.dropOtherForms(all)
	fits := func() bool {
		if total(all) > limit || !t.feed.Whole() || t.pass && !s.ready(all) { // what others leave is another each time
			wants = l.share(prog, all, limit)
		}
		return s.fits(wants, limit)
	}
	turn := make(chan struct{}, 1)
	s.queue = append(s.queue, turn)
	defer func() {
		s.queue = slices.DeleteFunc(s.queue, func(c chan struct{}) bool { return c == turn })
		s.poke()
	}()
	for s.queue[0] != turn || !fits() {
		if s.queue[0] == turn && s.running == 0 {
			return nil, &device.Error{Kind: device.OutOfMemory, Device: s.dev.Info().Name, Call: fmt.Sprintf("make room for %d bytes of columns", total(wants)),
				Err: fmt.Errorf("the limit is %d", limit)}
		}
		if t.behind {
			return nil, &device.Error{Kind: device.OutOfMemory, Device: s.dev.Info().Name, Call: "make room behind queries", Err: errBusy}
		}
		s.hurry()
		s.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, w := range wants {
		l.hold(w)
	}
	if l.host > 0 {
		for _, w := range all {
			if l.parts[w.key] == streamed || l.feed == phys.FeedRunToFinish && w.snap != nil && !isText(w.snap, w.key.ord) {
				l.holdCopy(w)
			}
		}
		s.evictCopies(l.host)
	}
	s.evict(limit)
	s.peak = max(s.peak, s.bytes)
	s.running++
	s.most = max(s.most, s.running)
	return l, nil
}

// ready reports that columns are on the device. mu is held.
func (s *Store) ready(wants []want) bool {
	return !slices.ContainsFunc(wants, func(w want) bool { return w.snap != nil && !s.held[w.key].isReady() })
}

// fits reports that things fit under a limit beside what is used already. mu is held.
func (s *Store) fits(wants []want, limit int64) bool {
	total := s.pinned
	for _, w := range wants {
		if it := s.held[w.key]; it == nil {
			total += w.bytes
		} else if it.users == 0 {
			total += it.bytes
		}
	}
	return total <= limit
}

// poke lets the first who waits look again. mu is held.
func (s *Store) poke() {
	if len(s.queue) > 0 {
		select {
		case s.queue[0] <- struct{}{}:
		default:
		}
	}
}

// hold adds a thing to the lease. mu is held.
func (l *lease) hold(w want) *item {
	if it := l.items[w.key]; it != nil {
		return it
	}
	it := l.s.item(w.key, w.bytes)
	l.s.pin(it)
	l.items[w.key] = it
	if w.snap != nil {
		l.s.watchSnapshot(w.snap)
	} else if w.dict != nil {
		l.s.watchDict(w.dict)
	}
	return it
}

// holdCopy adds the host's copy of a column to the lease, where there is room for it. mu is held.
func (l *lease) holdCopy(w want) {
	if it := l.s.copyOf(w.snap, w.key.ord, l.host, l.pack); it != nil {
		l.s.pin(it)
		l.items[it.key] = it
		l.copies[w.key] = it
	}
}

// release ends the lease. Nothing uses its things any more.
func (l *lease) release() {
	s := l.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range l.items {
		s.unpin(it)
	}
	if !l.feed.Keeps() {
		for k, it := range l.items {
			if l.isColumn(k) && it.users == 0 {
				s.drop(it)
			}
		}
	}
	l.items = nil
	s.running--
	s.poke()
}

// isColumn reports that a thing is a column in the device's memory.
func (l *lease) isColumn(k itemKey) bool {
	return k.snap != weak.Pointer[catalog.Snapshot]{} && !k.far
}

// dropColumns lets columns go that an earlier query left and nobody uses now: this one has them come again. mu is held.
func (l *lease) dropColumns(wants []want) {
	for _, w := range wants {
		if it := l.s.held[w.key]; it != nil && l.isColumn(w.key) && it.users == 0 {
			l.s.drop(it)
		}
	}
}

// dropOtherForms lets columns go that are packed otherwise than this query wishes, unless somebody uses them: then it reads them as they are. mu is held.
func (l *lease) dropOtherForms(wants []want) {
	for _, w := range wants {
		if it := l.s.held[w.key]; w.snap != nil && it != nil && it.users == 0 && it.isReady() && it.col != nil && it.col.wish != l.packed(w.snap, w.key.ord).bits {
			l.s.drop(it)
		}
	}
}

// want is hold for one who has no lock.
func (l *lease) want(w want) *item {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.hold(w)
}

// column is a column of a snapshot, copied if it is not there and not to be streamed.
func (l *lease) column(snap *catalog.Snapshot, ord int) (*deviceColumn, carried, error) {
	form := l.form(snap, ord)
	w := want{keyOf(snap, ord), expectedBytes(snap, ord, form), snap, nil}
	switch l.parts[w.key] {
	case streamed:
		c := streamedColumn(snap, ord)
		if it := l.copies[w.key]; it != nil {
			c.copy, c.form = it.copy, it.copy.form.Load()
		}
		return c, carried{}, nil
	case far:
		w.key.far, w.bytes = true, 0
	}
	it := l.want(w)
	c, err := l.bring(it, func(u *upload) (err error) {
		u.copy = l.copies[keyOf(snap, ord)]
		it.col, err = u.column(snap, ord, form)
		return
	})
	return it.col, c, err
}

// dict is a dictionary on the device.
func (l *lease) dict(d *column.Dict) (*residentDict, carried, error) {
	view := d.View()
	it := l.want(want{dictKey(d, dictTexts, view.Len), int64(16 * view.Len), nil, d})
	c, err := l.bring(it, func(u *upload) (err error) { it.dict, err = u.dict(view); return })
	return it.dict, c, err
}

// ranks are those of a dictionary's codes among its texts, on the device.
func (l *lease) ranks(d *column.Dict) (device.Addr, carried, error) {
	n := d.Len()
	it := l.want(want{dictKey(d, dictRanks, n), int64(4 * n), nil, d})
	c, err := l.bring(it, func(u *upload) (err error) { it.ranks, err = u.ranks(d); return })
	return it.ranks, c, err
}

// bring makes sure that a thing is on the device. What it takes is known better then than it was when the lease was taken.
func (l *lease) bring(it *item, copy func(*upload) error) (carried, error) {
	c, err := l.s.bring(it, l.behind, copy)
	if c.bytes == 0 || err != nil {
		return c, err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	for k, old := range l.s.held { // a dictionary that grew since
		if k.dict == it.key.dict && k.ord == it.key.ord && k.snap == it.key.snap && k.len < it.key.len {
			l.s.drop(old)
		}
	}
	l.s.evict(l.limit)
	return c, nil
}
