package file

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Folders named key=value, as Hive began to write them, are columns: all rows of a file have the value.
// For a Parquet file such a column is one whose row groups have one value each, by which they are left out like
// others.

// partition is a column that a folder's name gives a file.
type partition struct {
	name string
	text string
	null bool
}

// hiveNull is the folder of rows whose value is NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// partitionsOf are the partitions that the folders of a path name.
func partitionsOf(path string) (out []partition) {
	for _, dir := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, text, ok := strings.Cut(dir, "=")
		if !ok || name == "" {
			continue
		}
		p := partition{name: unescapeHive(name), text: unescapeHive(text), null: text == hiveNull}
		out = slices.DeleteFunc(out, func(o partition) bool { return o.name == p.name }) // the inner one counts
		out = append(out, p)
	}
	return out
}

// unescapeHive decodes %2F and the like, by which names have what paths cannot.
func unescapeHive(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}

// partitions finds the columns that folders give the files and that the files have not
// themselves: their definitions, and the values by file. A file outside of such folders has NULL.
func (s *Source) partitions() (cols []catalog.ColumnDef, values [][]types.Value) {
	found := make([][]partition, len(s.files))
	for i, f := range s.files {
		found[i] = partitionsOf(f.path)
		for _, p := range found[i] {
			same := func(c catalog.ColumnDef) bool { return strings.EqualFold(c.Name, p.name) }
			if !slices.ContainsFunc(s.cols, same) && !slices.ContainsFunc(cols, func(c catalog.ColumnDef) bool { return c.Name == p.name }) {
				cols = append(cols, catalog.ColumnDef{Name: p.name})
			}
		}
	}
	values = make([][]types.Value, len(s.files))
	for c := range cols {
		texts := make([]*partition, len(s.files))
		for i := range found {
			for k := range found[i] {
				if p := &found[i][k]; p.name == cols[c].Name && !p.null {
					texts[i] = p
				}
			}
		}
		def := &cols[c]
		def.Type, def.NotNull = partitionType(texts), true
		for i, p := range texts {
			v := types.NullOf(def.Type)
			if p != nil && (p.text != "" || def.Type.Kind == types.Text) {
				v, _ = types.ParseValue(def.Type, p.text) // partitionType has tried it
			}
			def.NotNull = def.NotNull && !v.Null
			values[i] = append(values[i], v)
		}
	}
	return cols, values
}

// partitionType is the type for all values: a DATE, TIMESTAMP or BIGINT, else text. Numbers with zeros before them
// are texts, since the zeros may mean something; but months, days and hours of two digits are numbers.
func partitionType(list []*partition) types.Type {
	var g guess
	any, padded, twoDigits := false, false, true
	for _, p := range list {
		if p == nil || p.text == "" {
			continue
		}
		any = true
		c := looksText
		if k := classOf(p.text); k == looksDate || k == looksTimestamp {
			c = k
		} else if plainInt(p.text) {
			c = looksInt
		}
		g[c] = true
		padded = padded || p.text[0] == '0' && len(p.text) > 1
		twoDigits = twoDigits && len(p.text) == 2
	}
	t := g.best()
	switch {
	case !any, t.Kind == types.Int64 && padded && !twoDigits:
		return types.TText
	case t.Kind == types.Int64, t.Kind == types.Date, t.Kind == types.Timestamp:
		return t
	}
	return types.TText
}

// plainInt reports digits, perhaps after a minus, that BIGINT holds.
func plainInt(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && s != "-0" && parses(types.TInt64, s)
}

// addPartitions gives Parquet files the columns of their folders.
func (s *Source) addPartitions() {
	cols, values := s.partitions()
	if len(cols) == 0 {
		return
	}
	s.cols = append(s.cols[:len(s.cols):len(s.cols)], cols...)
	for i, f := range s.parquet {
		for c := range cols {
			v := values[i][c]
			f.cols = append(f.cols, parquetColumn{ColumnDef: cols[c], form: inPath, leaf: -1, value: v})
			for g := range f.chunks {
				rows := f.meta.RowGroup(g).NumRows()
				info := chunkInfo{rows: rows, optional: v.Null, distinct: 1, bounds: bounds{known: !v.Null, min: v, max: v}}
				if v.Null {
					info.nulls = rows
				}
				f.chunks[g] = append(f.chunks[g], info)
			}
		}
	}
}

// missPartitions says which columns of folders are not read: text files have none.
func (s *Source) missPartitions(ctx context.Context) {
	cols, _ := s.partitions()
	for _, c := range cols {
		diag.Notice(ctx, "the folders' column %q is not read: only Parquet files get columns from the names of their folders", c.Name)
	}
}

// partitionHunch is what the values of a folder's column are like.
func (s *Source) partitionHunch(col int) hunch {
	seen := map[string]bool{}
	length := 0
	for _, f := range s.parquet {
		if v := f.cols[col].value; !v.Null {
			text := v.String()
			if !seen[text] {
				seen[text] = true
				length += len(text)
			}
		}
	}
	n := max(len(seen), 1)
	return hunch{distinct: float64(n), length: max(float64(length)/float64(n), 1)}
}

// partitionTexts is the dictionary of a row group whose rows have all the same text.
func partitionTexts(v types.Value) [][]byte {
	if v.Null {
		return [][]byte{}
	}
	return [][]byte{[]byte(v.S)}
}

// constant makes a chunk whose rows all have the value of the file's folder.
func (b *chunkMaker) constant(v types.Value) error {
	heap := 0
	if b.t.Enc == column.EncStr {
		heap = len(v.S) + column.TextPad
	}
	if err := b.alloc(heap); err != nil {
		return err
	}
	if nulls := b.nulls(); nulls != nil {
		for i := range nulls {
			nulls[i] = 0
			if v.Null {
				nulls[i] = 1
			}
		}
	} else if v.Null {
		return b.r.broken("there are NULLs")
	}
	switch {
	case b.t.Enc == column.EncStr:
		copy(column.SliceAt[byte](b.c.Heap, heap), v.S)
		b.c.Zone.Bytes = int64(len(v.S)) * int64(b.c.Rows)
		repeat(b, descriptor([]byte(v.S), 0))
		return nil
	case b.t.Enc == column.EncDict && !v.Null:
		b.repeatInt(uint64(b.t.dict.codes[textKey{b.r.f, b.r.group}][0]))
		return nil
	case v.Null:
		b.repeatInt(0)
		return nil
	}
	b.repeatInt(uint64(v.I - b.t.base))
	return nil
}

// repeatInt fills the chunk with a number.
func (b *chunkMaker) repeatInt(x uint64) {
	switch b.t.Width {
	case 1:
		repeat(b, uint8(x))
	case 2:
		repeat(b, uint16(x))
	case 4:
		repeat(b, uint32(x))
	default:
		repeat(b, x)
	}
}

func repeat[T elem](b *chunkMaker, x T) {
	xs := column.SliceAt[T](b.c.Data, b.c.Rows)
	for i := range xs {
		xs[i] = x
	}
}
