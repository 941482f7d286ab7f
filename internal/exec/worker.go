package exec

import (
	"runtime"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Morsels are sized by time: a call of generated code cannot be preempted, and the
// garbage collector waits for the longest.
const (
	firstMorsel  = 16 << 10
	minMorsel    = 1 << 10
	maxMorsel    = 64 << 10
	morselTarget = 200 * time.Microsecond
)

// feed hands out morsels in order; of files, whose segments must be loaded, each worker gets its own
// segments as long as there are any that nobody has begun.
type feed struct {
	j    *job
	mu   sync.Mutex
	at   int // the first range that is not handed out entirely
	next int // files: the first range that nobody has begun
	n    int64
	done int64
	got  int64 // rows collected so far, for LIMIT
}

// morsel is a stretch of one range.
type morsel struct {
	sp     *span
	lo, hi int
	seq    int64
}

// take hands out rows to a worker that was in the given range before.
func (f *feed) take(id, rows int, before *span) (m morsel, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.j.ranges
	for f.at < len(all) && (all[f.at].given >= all[f.at].rows || f.behind(&all[f.at])) {
		f.at++
	}
	if f.at >= len(all) || f.j.limit >= 0 && f.got >= f.j.limit {
		f.note(id, nowhere)
		return m, false
	}
	sp := &all[f.at]
	if sp.lazy != nil && f.j.limit < 0 {
		switch f.next = max(f.next, f.at); {
		case before != nil && before.given < before.rows:
			sp = before
		case f.next < len(all):
			sp = &all[f.next]
			f.next++
		}
	}
	hi := min(sp.given+rows, sp.rows)
	if s := f.j.split; s != nil {
		if hi = int(s.forward(sp.row+int64(sp.given), sp.row+int64(hi)) - sp.row); hi <= sp.given {
			return m, false
		}
	}
	m = morsel{sp, sp.given, hi, f.j.seq + sp.first + int64(sp.given)}
	sp.given = m.hi
	f.n++
	f.done += int64(m.hi - m.lo)
	f.note(id, m.seq)
	return m, true
}

// note tells the delivery what a worker has taken, and where the first row is that is not handed out.
func (f *feed) note(id int, seq int64) {
	if f.j.delivery == nil {
		return
	}
	floor := int64(nowhere)
	for _, sp := range f.j.ranges[f.at:] {
		if sp.given < sp.rows {
			floor = f.j.seq + sp.first + int64(sp.given)
			break
		}
	}
	f.j.delivery.took(id, seq, floor)
}

// given is how many rows were handed out.
func (f *feed) given() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// rest hands out what is left of a range.
func (f *feed) rest(sp *span) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := sp.rows - sp.given
	sp.given = sp.rows
	f.done += int64(n)
	return n
}

// behind leaves a range out of which no row is wanted any more.
func (f *feed) behind(sp *span) bool {
	if f.j.behind == nil || !f.j.behind(sp) {
		return false
	}
	f.j.st.SkippedRows += int64(sp.rows - sp.given)
	sp.given = sp.rows
	return true
}

// execute runs the job on as many workers as it can use.
func (j *job) execute() error {
	r := j.r
	j.st.RowsIn = j.total
	defer func() { j.st.Morsels = j.feed.n }()
	if j.delivery != nil {
		defer j.delivery.begin(r.ctx, j)()
	}
	perWorker := int64(firstMorsel)
	if r.MorselRows > 0 {
		perWorker = int64(r.MorselRows)
	}
	n := int(min(int64(r.Threads), (j.total+perWorker-1)/perWorker))
	if j.stream != nil {
		n = r.Threads
		defer func() { j.st.RowsIn = j.feed.done }()
	}
	if n <= 1 {
		var err error
		func() {
			defer diag.Recover("generated code", &err)
			err = j.work(0)
		}()
		return j.left(0, err)
	}
	work := func(i int) {
		var err error
		defer func() {
			if err != nil {
				r.team.Fail(err)
			}
			if err = j.left(i, nil); err != nil {
				r.team.Fail(err)
			}
		}()
		defer diag.Recover("generated code", &err)
		defer work.PanicOnFault()()
		err = j.work(i)
	}
	var wg sync.WaitGroup
	j.others = func() {
		j.others = nil
		for i := 1; i < n; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				work(i)
			}()
		}
	}
	if r.Off.ThreadTrial || r.MorselRows > 0 || j.stream != nil || j.ranges[0].lazy != nil { // morsels of a given size, or segments that must be read
		j.others()
	}
	work(0)
	wg.Wait()
	return r.team.Err()
}

// A pipeline begins with one thread, which tries its first rows out: waking others takes as long as many
// thousand rows.
const (
	trialRows   = 4 << 10
	worthThread = 150 * time.Microsecond
)

// callOthers starts the other threads if what is left takes long enough, to judge by the last rows.
func (j *job) callOthers(rows int, took time.Duration) {
	if left := j.total - j.feed.done; float64(took)*float64(left) > float64(worthThread)*float64(rows) {
		j.others()
	}
}

// worker is a thread's part of a pipeline: its context block and its sink state.
type worker struct {
	r    *run
	j    *job
	id   int
	ctx  uintptr
	size int
	save uintptr
	v    *variant
	sp   *span
	seq  int64
	base int64

	texts     mem.Arena // what generated code makes
	textSpace uintptr

	kept load.Kept // streams
}

// work processes morsels until there are none.
func (j *job) work(id int) error {
	w := &worker{r: j.r, j: j, id: id}
	defer w.close()
	defer func(start time.Time) { j.busy.Add(int64(time.Since(start))) }(time.Now())
	if len(j.ranges) == 0 && j.stream == nil {
		return nil
	}
	rows := firstMorsel
	if _, ok := j.sink.(*stageSink); ok {
		rows = minMorsel // Go is slower, and a LIMIT may soon be reached
	}
	if j.limit >= 0 { // perhaps the first rows are enough
		rows = min(rows, max(int(j.limit), minMorsel/4))
	}
	fixed := j.r.MorselRows > 0
	if fixed {
		rows = j.r.MorselRows
	}
	trial := id == 0 && j.others != nil
	if trial {
		rows = min(rows, trialRows)
	}
	attached := false
	for !j.leaves(id, j.r.Threads) {
		m, ok, err := w.next(rows)
		if err != nil {
			return err
		}
		if !ok || j.r.team.Stopped() {
			break
		}
		if err := j.r.team.Canceled(); err != nil {
			return err
		}
		if err := w.enterSpan(m.sp); err != nil {
			return err
		}
		if m.sp.lazy != nil && m.sp.lazy.Empty() {
			m.sp.lazy.Done(j.loader, m.hi-m.lo+j.feed.rest(m.sp))
			continue
		}
		if !attached {
			if err := j.sink.attach(w); err != nil {
				return err
			}
			attached = true
		}
		w.seq = m.seq
		start := time.Now()
		if err := w.runNeeded(m); err != nil {
			return err
		}
		if err := j.sink.morsel(w); err != nil {
			return err
		}
		if m.sp.lazy != nil {
			m.sp.lazy.Done(j.loader, m.hi-m.lo)
		}
		took := time.Since(start)
		j.split.Note(false, m.sp.row+int64(m.lo), m.sp.row+int64(m.hi), start)
		if id == 0 && j.others != nil {
			j.callOthers(m.hi-m.lo, took)
		}
		switch {
		case trial && rows == trialRows && took < morselTarget*trialRows/firstMorsel:
			rows = firstMorsel
		case !fixed:
			if rows = adapt(rows, m.hi-m.lo, took); j.delivery != nil { // memory is that of a morsel
				rows = min(rows, firstMorsel)
			}
		}
		trial = false
		if j.r.Progress != nil && id == 0 {
			j.r.Progress(j.feed.given(), j.total)
		}
		runtime.Gosched() // lets the collector and other goroutines in
	}
	if attached {
		j.sink.detach(w)
		w.counters()
	}
	return nil
}

// adapt sizes the next morsel from the time of the last.
func adapt(rows, did int, took time.Duration) int {
	switch {
	case took > 5*morselTarget/4 && rows > minMorsel:
		return rows / 2
	case took < morselTarget/2 && did == rows && rows < maxMorsel:
		return rows * 2
	}
	return rows
}

// runNeeded calls the generated code on those rows of a morsel that are loaded.
func (w *worker) runNeeded(m morsel) error {
	if m.sp.lazy == nil {
		return w.run(m.lo, m.hi)
	}
	return m.sp.lazy.EachNeeded(m.lo, m.hi, w.run)
}

// enterSpan points the context at a range of the source.
func (w *worker) enterSpan(sp *span) error {
	if w.sp == sp {
		return nil
	}
	if sp.lazy != nil {
		err := sp.lazy.Load(w.j.loader, sp.num, func() (catalog.Need, bool) {
			need := w.j.sift.need(w, sp)
			return need, need.Any(0, int64(sp.rows))
		})
		if err != nil || sp.lazy.Empty() {
			return err
		}
	}
	return w.point(sp)
}

// point points the context at a range whose data is there.
func (w *worker) point(sp *span) error {
	if err := w.enterVariant(w.j, sp.v); err != nil {
		return err
	}
	w.sp = sp
	if sp.seg == nil {
		mem.Store64(w.ctx+layout.CtxSource, uint64(sp.addr))
		return nil
	}
	scan := w.j.scan()
	for _, word := range w.v.frag.Words {
		if word.Kind == code.WordRow {
			mem.Store64(w.ctx+uintptr(word.Off), uint64(sp.num)<<32)
		}
		if word.Kind > code.WordDHeap || word.Dict != nil {
			continue
		}
		c := sp.chunk(scan.Ordinal[word.Index])
		var x uintptr
		switch word.Kind {
		case code.WordData:
			x = c.Data
		case code.WordBase:
			x = uintptr(c.Base)
		case code.WordNull:
			x = c.Null
		case code.WordHeap:
			x = c.Heap
		case code.WordDesc:
			x = w.r.view(c.Dict).Desc
		case code.WordDHeap:
			x = w.r.view(c.Dict).Heap
		}
		mem.Store64(w.ctx+uintptr(word.Off), uint64(x))
	}
	return nil
}

// enterVariant makes sure that the context fits the variant and fills the words that do
// not depend on the range. The sink's words stay as they are.
func (w *worker) enterVariant(j *job, v *variant) error {
	if w.v == v {
		return nil
	}
	if w.ctx == 0 { // for all variants: sinks keep its address
		size := v.frag.CtxSize
		for _, o := range j.variants {
			size = max(size, o.frag.CtxSize)
		}
		a, err := w.r.mem.Alloc(size)
		if err != nil {
			return err
		}
		w.ctx, w.size = a, size
	}
	if v.frag.CtxSize > w.size {
		return diag.Errorf(diag.InternalError, diag.NoPos, "context of %d bytes, %d needed", w.size, v.frag.CtxSize)
	}
	if n := v.code.SaveBytes(); n > 0 {
		a, err := w.r.mem.Alloc(n)
		if err != nil {
			return err
		}
		if w.save != 0 {
			w.r.mem.Free(w.save)
		}
		w.save = a
		mem.Store64(w.ctx+ir.CtxSave, uint64(a))
	}
	w.counters()
	w.v = v
	lutBase := 0
	for _, o := range j.variants {
		if o == v {
			break
		}
		lutBase += len(o.frag.Luts)
	}
	for _, word := range v.frag.Words {
		var x uintptr
		switch word.Kind {
		case code.WordDesc, code.WordDHeap:
			if word.Dict == nil {
				continue
			}
			view := w.r.view(word.Dict)
			x = view.Desc
			if word.Kind == code.WordDHeap {
				x = view.Heap
			}
		case code.WordRanks:
			a, err := w.r.ranks(word.Dict)
			if err != nil {
				return err
			}
			x = a
		case code.WordPool:
			a, err := w.r.pool(v.frag)
			if err != nil {
				return err
			}
			x = a
		case code.WordSlots:
			x = w.r.walk.Tables[word.Build].Slots
		case code.WordTuples:
			x = w.r.walk.Tables[word.Build].Tuples
		case code.WordZero:
			x = w.r.zero
		case code.WordLut:
			x = j.luts[lutBase+word.Index]
		case code.WordFilter:
			x = j.filters[word.Index]
		case code.WordCount, code.WordLanes:
			x = 0
		case code.WordTexts:
			a, err := w.textState()
			if err != nil {
				return err
			}
			x = a
		case code.WordLiteral:
			x = uintptr(v.frag.Literals[word.Index])
		default:
			continue
		}
		mem.Store64(w.ctx+uintptr(word.Off), uint64(x))
	}
	return nil
}

// pool is a copy of a fragment's literals outside of the Go heap.
func (r *run) pool(f *emit.Fragment) (uintptr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.pools[f]; ok {
		return a, nil
	}
	a, err := r.mem.Alloc(len(f.Pool) + column.TextPad)
	if err != nil {
		return 0, err
	}
	copy(mem.Bytes(a, len(f.Pool)), f.Pool)
	r.pools[f] = a
	return a, nil
}

// counters adds the context's row counters to the pipeline's.
func (w *worker) counters() {
	if w.v == nil || w.j == nil || len(w.v.frag.Counts) == 0 {
		return
	}
	w.r.mu.Lock()
	for _, c := range w.v.frag.Counts {
		w.j.st.OpRows[w.j.first()+c.Op] += int64(mem.Load64(w.ctx + uintptr(c.Off)))
		mem.Store64(w.ctx+uintptr(c.Off), 0)
	}
	w.r.mu.Unlock()
}

// first is the number of the job's first operator in its pipeline.
func (j *job) first() int {
	if j.p == nil {
		return 0
	}
	return j.p.First
}

// close gives the context back; tuples and tables stay.
func (w *worker) close() {
	if w.ctx != 0 {
		w.r.mem.Free(w.ctx)
	}
	if w.save != 0 {
		w.r.mem.Free(w.save)
	}
	if w.textSpace != 0 {
		w.r.mem.Free(w.textSpace)
	}
}
