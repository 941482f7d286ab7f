package gpu

import (
	"hash/maphash"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Prospects is what a store knows of a program before it runs.
type Prospects struct {
	Refused  string // why the device cannot run it; "": it is not known
	Bytes    int64  // of the columns that it reads
	Absent   int64  // of these, what is not on the device
	Files    int64  // of columns in files, about
	Compiled bool   // its kernels were compiled for an earlier query
	Missed   time.Duration
	Held     int64 // bytes that columns of all queries take
	Behind   bool  // what it lacks can be made ready while nobody waits for it
	needs    []need
	shape    uint64
}

// need is something that has to be brought to the device: a column, or, where key is empty, the kernels.
type need struct {
	key   itemKey
	bytes int64
}

// past is what is remembered of programs of one shape.
type past struct {
	compiled bool
	refused  string
	missed   time.Duration
	stuck    bool // it could not be made ready behind queries
}

// maxPasts bounds what is remembered; more than that starts afresh.
const maxPasts = 4096

// Prospects looks at what the program reads, and whether its like ran before.
func (s *Store) Prospects(prog *pipe.Program) Prospects {
	p := Prospects{shape: shapeOfProgram(prog)}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[itemKey]bool{}
	for _, pl := range prog.Pipelines {
		t, ok := pl.Source.(*pipe.Table)
		if !ok {
			continue
		}
		snap := t.Scan.Snap
		if isFile(snap) {
			if snap.External != nil || snap.Stream != nil {
				p.Refused = "it reads a file whose rows are not known before"
				return p
			}
			for _, ord := range t.Scan.Ordinal {
				p.Files += fileBytes(snap, ord)
			}
			continue
		}
		for _, ord := range t.Scan.Ordinal {
			key := keyOf(snap, ord)
			if seen[key] {
				continue
			}
			seen[key] = true
			n := expectedBytes(snap, ord, packing{})
			p.Bytes += n
			if !s.held[key].isReady() {
				p.Absent += n
				p.needs = append(p.needs, need{key, n})
				p.Missed += s.missed[key]
			}
		}
	}
	past := s.pasts[p.shape]
	p.Refused, p.Compiled, p.Behind = past.refused, past.compiled, !past.stuck
	p.Held = s.bytes
	if !p.Compiled {
		p.Missed += past.missed
		p.needs = append(p.needs, need{bytes: kernelsWorth})
	}
	return p
}

// knows reports that the kernels of a program were compiled before.
func (s *Store) knows(prog *pipe.Program) bool {
	shape := shapeOfProgram(prog)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pasts[shape].compiled
}

// kernelsWorth is how many bytes could be copied in the time that kernels take to compile, about.
const kernelsWorth = 500 << 20

// Miss notes that a program with such prospects ran elsewhere, and that the device would have been faster by d, had it had all
// that the program needs: that counts for these things when they are wanted again.
func (s *Store) Miss(p *Prospects, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := int64(0)
	for _, n := range p.needs {
		total += n.bytes
	}
	for _, n := range p.needs {
		share := time.Duration(float64(d) * float64(n.bytes) / float64(total))
		if n.key == (itemKey{}) {
			s.note(p.shape, func(x *past) { x.missed += share })
			continue
		}
		if n.key.snap.Value() == nil {
			continue
		}
		if len(s.missed) >= maxPasts {
			clear(s.missed)
		}
		s.missed[n.key] += share
	}
}

// Ran notes that a program ran on the device, or why it could not; "": it could.
func (s *Store) Ran(prog *pipe.Program, refused string) {
	shape := shapeOfProgram(prog)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(shape, func(x *past) { *x = past{compiled: refused == "", refused: refused} })
}

// note changes what is remembered of a shape. mu is held.
func (s *Store) note(shape uint64, f func(*past)) {
	if len(s.pasts) >= maxPasts {
		clear(s.pasts)
	}
	x := s.pasts[shape]
	f(&x)
	s.pasts[shape] = x
}

// isFile reports that rows are read while the query runs.
func isFile(snap *catalog.Snapshot) bool {
	if snap.External != nil || snap.Stream != nil {
		return true
	}
	for _, seg := range snap.Segments {
		if seg.Loader != nil {
			return true
		}
	}
	return false
}

// fileBytes is what a file's column will take on the device, roughly: its values are not known yet.
func fileBytes(snap *catalog.Snapshot, ord int) int64 {
	width := int64(8)
	switch snap.Table.Columns[ord].Type.Phys() {
	case types.PhysStr:
		width = 16 + textGuess
	case types.PhysIvl:
		width = 16
	}
	return width * snap.Rows
}

// textGuess is how many bytes a text has whose like nobody has seen.
const textGuess = 16

// expectedBytes is what a column will take on the device, about, packed in such a way.
func expectedBytes(snap *catalog.Snapshot, ord int, form packing) int64 {
	sh, _ := shapeOf(snap, ord)
	row := float64(sh.Width)
	if form.bits > 0 {
		row = float64(form.bits) / 8
	}
	if sh.Nulls {
		row++
	}
	if st := &snap.Stats[ord]; sh.Enc == column.EncStr && st.AvgLen > column.StrInline {
		row += st.AvgLen
	}
	return int64(row*float64(snap.Rows+emit.ArrayPad)) + column.TextPad
}

var shapeSeed = maphash.MakeSeed()

// Identify says which shape a program has, before it is changed by what runs it.
func Identify(prog *pipe.Program) { prog.Shape = shapeOfProgram(prog) }

// shapeOfProgram is the same for programs that differ in literals only, as their kernels do.
func shapeOfProgram(prog *pipe.Program) uint64 {
	if prog.Shape != 0 {
		return prog.Shape
	}
	var h maphash.Hash
	h.SetSeed(shapeSeed)
	part := func(p *pipe.Part) {
		_, _ = h.WriteString(p.Kind)
		withoutLiterals(&h, p.What)
		for _, m := range p.More {
			withoutLiterals(&h, m)
		}
	}
	for _, t := range pipe.Describe(prog) {
		for i := -1; i <= len(t.Ops); i++ {
			part(t.At(i))
		}
	}
	return h.Sum64()
}

// withoutLiterals writes a text of EXPLAIN, with one mark for each run of digits and each quoted text.
func withoutLiterals(h *maphash.Hash, text string) {
	quoted, number := false, false
	for i := range len(text) {
		c := text[i]
		digit := c >= '0' && c <= '9'
		switch {
		case c == '\'':
			if quoted = !quoted; quoted {
				_ = h.WriteByte('?')
			}
		case quoted:
		case !digit:
			_ = h.WriteByte(c)
		case !number:
			_ = h.WriteByte('0')
		}
		number = digit
	}
	_ = h.WriteByte('\n')
}
