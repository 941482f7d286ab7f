package file

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The columns of JSON files are the keys of the first objects of each, in the order in which they come,
// of the types that hold their values unchanged: a number of many digits never becomes a DOUBLE that is
// merely near it. Arrays are lists, and objects structs; values of several kinds are texts, and so are objects that have
// none of their keys in common with each other: those are data and not names.

// jsonGuess is what the values of a key are like.
type jsonGuess struct {
	bools, numbers bool
	arrays         bool
	elem           *jsonGuess // of arrays
	objects        int
	keys           []string // of objects, in the order in which they come
	fields         map[string]*jsonGuess
	guess          // of strings
	strings        bool
	seen           int // values

	fraction, exponent bool // numbers that are not plain integers
	wide               bool // integers beyond 64 bits
	inexact            bool // numbers that a DOUBLE would change
	before, after      int  // most digits before and after the point

	rows   int             // of hunchRows, in which the key is
	texts  map[string]bool // what was seen there …
	length int             // … and how long all of it is
}

// see takes a value into account.
func (g *jsonGuess) see(v jsonValue) {
	if g.rows < hunchRows {
		if g.texts == nil {
			g.texts = map[string]bool{}
		}
		g.rows++
		g.texts[string(v.text)] = true
		g.length += len(v.text)
	}
	g.seen++
	switch v.kind {
	case jsonBool:
		g.bools = true
	case jsonNested:
		if j, err := types.ParseJSON(string(v.text)); err == nil { // what is wrong with it is told when it is read
			g.seeNested(j)
		} else {
			g.bools, g.strings = true, true
		}
	case jsonString:
		g.strings = true
		if c := classOf(string(v.text)); c == looksDate && v.text[4] == '-' || c == looksTimestamp && exactTimestamp(v.text) {
			g.guess[c] = true
		} else {
			g.guess[looksText] = true
		}
	case jsonNumber:
		g.numbers = true
		n := measure(v.text)
		g.fraction, g.exponent = g.fraction || n.fraction, g.exponent || n.exponent
		g.before, g.after = max(g.before, n.before), max(g.after, n.after)
		g.inexact = g.inexact || !n.asDouble(v.text)
		if !n.fraction && !n.exponent {
			if _, err := strconv.ParseInt(string(v.text), 10, 64); err != nil {
				g.wide = true
			}
		}
	}
}

// seeNested takes an array or an object into account.
func (g *jsonGuess) seeNested(j types.JSONValue) {
	if j.Kind == '[' {
		if g.arrays = true; g.elem == nil {
			g.elem = &jsonGuess{}
		}
		for _, e := range j.Elems {
			g.elem.seePart(e)
		}
		return
	}
	g.objects++
	if g.fields == nil {
		g.fields = map[string]*jsonGuess{}
	}
	for i, k := range j.Keys {
		f := g.fields[k]
		if f == nil {
			f = &jsonGuess{}
			g.fields[k], g.keys = f, append(g.keys, k)
		}
		f.seePart(j.Elems[i])
	}
}

// seePart is see of a part of a nested value.
func (g *jsonGuess) seePart(j types.JSONValue) {
	switch j.Kind {
	case 'n':
	case '{', '[':
		g.seen++
		g.seeNested(j)
	default:
		g.see(partValue(j))
	}
}

// partValue is a part of a nested value as those of columns are.
func partValue(j types.JSONValue) jsonValue {
	kind := map[byte]jsonKind{'"': jsonString, '0': jsonNumber, 't': jsonBool, 'n': jsonNull, '{': jsonNested, '[': jsonNested}[j.Kind]
	return jsonValue{kind: kind, text: []byte(j.Text())}
}

// mostKeys is how many different keys the objects of a struct may have: as many as DuckDB takes for names.
const mostKeys = 200

// structType is the type of objects; false: their keys are no names of fields.
func (g *jsonGuess) structType() (types.Type, bool) {
	n := len(g.keys)
	if n == 0 || n > mostKeys || n > 10*g.objects && g.objects > 1 {
		return types.TText, false
	}
	var fields []types.Member
	folded := map[string]bool{}
	for _, k := range g.keys {
		if folded[strings.ToLower(k)] { // fields are found in any case
			return types.TText, false
		}
		folded[strings.ToLower(k)] = true
		fields = append(fields, types.Member{Name: k, Type: g.fields[k].best()})
	}
	return types.TStruct(fields), true
}

// hunch is what the values of all rows may be like.
func (g *jsonGuess) hunch(rows int64) hunch {
	h := hunch{distinct: float64(len(g.texts)), length: float64(g.length) / float64(max(g.rows, 1))}
	h.scale(g.rows, rows)
	return h
}

// exactTimestamp reports a timestamp that TIMESTAMP holds as it is written: no zone, not more than microseconds.
func exactTimestamp(s []byte) bool {
	if last := s[len(s)-1]; !isDigit(last) || s[4] != '-' {
		return false
	}
	point := bytes.IndexByte(s, '.')
	return point < 0 || len(s)-point-1 <= 6
}

// best is the type that holds all values.
func (g *jsonGuess) best() types.Type {
	kinds := 0
	for _, k := range []bool{g.bools, g.numbers, g.arrays, g.objects > 0, g.strings} {
		if k {
			kinds++
		}
	}
	switch {
	case kinds != 1:
	case g.arrays:
		return types.TList(g.elem.best())
	case g.objects > 0:
		t, _ := g.structType()
		return t
	case g.bools:
		return types.TBool
	case g.strings:
		return g.guess.best()
	case !g.fraction && !g.exponent && !g.wide:
		return types.TInt64
	case !g.fraction && !g.exponent && g.before <= types.MaxPrecision:
		return types.TDecimal(types.MaxPrecision, 0)
	case !g.inexact:
		return types.TFloat64
	case !g.exponent && g.before+g.after <= types.MaxPrecision:
		return types.TDecimal(types.MaxPrecision, g.after)
	}
	return types.TText
}

// measured is the digits of a number.
type measured struct {
	before, after      int // the point, without zeros that mean nothing
	significant        int
	fraction, exponent bool
}

func measure(s []byte) (m measured) {
	if s[0] == '-' {
		s = s[1:]
	}
	if i := bytes.IndexAny(s, "eE"); i >= 0 {
		m.exponent = true
		s = s[:i]
	}
	whole, part := s, []byte(nil)
	if i := bytes.IndexByte(s, '.'); i >= 0 {
		m.fraction = true
		whole, part = s[:i], s[i+1:]
	}
	whole = bytes.TrimLeft(whole, "0")
	m.before, m.after = len(whole), len(part)
	m.significant = len(bytes.TrimLeft(append(append([]byte(nil), whole...), part...), "0"))
	return m
}

// asDouble reports that a DOUBLE holds a number: exactly if it is an integer, and as far as its up to 17 digits
// go if it is not, which is what programs print of a double.
func (m *measured) asDouble(s []byte) bool {
	if m.significant <= 15 && !m.exponent {
		return true
	}
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil || x == 0 && m.significant > 0 {
		return false // too large or too small
	}
	if !m.fraction && !m.exponent {
		return m.before <= 19 && math.Abs(x) < 1<<63 && strconv.FormatInt(int64(x), 10) == string(s)
	}
	return m.significant <= 17
}

// jsonSampleBytes is how much of a file is looked at for guessing, at most.
const jsonSampleBytes = 8 << 20

// jsonFile is what Open found out about JSON files.
type jsonFile struct {
	index map[string]int // of columns, by key
	fold  bool           // keys are looked up in any case, too: the columns are a table's
}

// lookJSON finds the columns.
func (s *Source) lookJSON(ctx context.Context, opts Options) error {
	s.json = &jsonFile{index: map[string]int{}}
	if opts.Columns != nil {
		s.cols = opts.Columns
		s.json.fold = !opts.Named
		for i, c := range s.cols {
			s.json.index[c.Name] = i
		}
		if opts.Named {
			return s.named(&opts)
		}
		s.folders = s.foldersFor(s.cols)
		for i := range s.folders {
			s.folders[i].fallback = true
		}
		return nil
	}
	s.guessed = true
	rows := opts.SampleRows
	if rows == 0 {
		rows = defaultSampleRows
	}
	var guesses []*jsonGuess
	s.seen = true
	total := 0
	for _, in := range s.files {
		// Of many files the first rows of each tell as much.
		if err := s.sampleJSON(ctx, in, max(rows/len(s.files), 100), &guesses, &total); err != nil {
			return err
		}
	}
	if len(guesses) == 0 {
		return diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "%s has no columns", s.describe()).
			WithDetail("there is no object with a key in it")
	}
	for i, g := range guesses {
		s.cols[i].Type = g.best()
		s.hunches = append(s.hunches, g.hunch(s.rows))
	}
	return s.addPlaces(&opts)
}

// sampleJSON looks at the first rows of a file.
func (s *Source) sampleJSON(ctx context.Context, in *input, rows int, guesses *[]*jsonGuess, total *int) error {
	data, all, err := in.head(ctx, jsonSampleBytes, in.text)
	if err != nil {
		return err
	}
	sp := newJSONSplitter(ctx, []*input{in})
	sp.rows = rows
	pc := sp.sample(data, all)
	p := &jsonParser{}
	for i, at := range pc.objects {
		seen := map[string]bool{}
		err := p.object(data[at[0]:at[1]], func(key []byte, v jsonValue) error {
			name := string(key)
			if seen[name] {
				return duplicateKey(name)
			}
			seen[name] = true
			c, ok := s.json.index[name]
			if !ok {
				c = len(s.cols)
				s.json.index[name] = c
				s.cols = append(s.cols, catalog.ColumnDef{Name: name})
				*guesses = append(*guesses, &jsonGuess{})
			}
			(*guesses)[c].see(v)
			return nil
		})
		if err != nil {
			return pc.locate(data, i, p, "", err)
		}
	}
	if sp.failed != nil {
		return sp.failed
	}
	*total += len(data)
	s.seen = s.seen && all && len(pc.objects) < rows && *total <= sampleBytes
	if n := len(pc.objects); n > 0 {
		s.rows += max(int64(n), in.size*int64(n)/int64(max(pc.objects[n-1][1], 1)))
	}
	return nil
}

// sample is the first rows of a file of which data is the beginning, or all.
func (s *jsonSplitter) sample(data []byte, all bool) *piece {
	s.eof = all
	pc := &piece{file: s.files[0], line: 1}
	at := s.objects(data, pc, 0)
	switch {
	case s.failed != nil:
	case all && at == len(data) && s.array && !s.ended:
		s.malformed(data, pc, at, "the array does not end")
	case !all && len(pc.objects) == 0:
		s.failed = located(diag.Errorf(diag.ProgramLimitExceeded, diag.NoPos, "the first %d MiB have no whole object", jsonSampleBytes>>20),
			"file %s, line %d", pc.file.path, pc.lineAt(data, at, '\n'))
	}
	return pc
}

func duplicateKey(name string) error {
	return diag.Errorf(diag.DuplicateColumn, diag.NoPos, "key %q appears twice in an object", name)
}
