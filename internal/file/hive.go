package file

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Folders named key=value, as Hive began to write them, are columns: all rows of a file have the value, and a
// condition on it decides which files are read. What the files have themselves counts more than a folder's name.

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
		out = slices.DeleteFunc(out, func(o partition) bool { return strings.EqualFold(o.name, p.name) }) // the inner one counts
		out = append(out, p)
	}
	return out
}

// unescapeHive decodes %2F and the like, by which names have what paths cannot. What would be no text then stays
// as it is.
func unescapeHive(s string) string {
	if t, err := url.PathUnescape(s); err == nil && utf8.ValidString(t) && !strings.Contains(t, "\x00") {
		return t
	}
	return strings.ToValidUTF8(s, "?")
}

// folderColumn is a column of a source that comes from the names of folders.
type folderColumn struct {
	col    int                    // of the source
	values map[*input]folderValue // of the files in such folders
	// fallback says that the files may have the column: the value is for rows that lack it. That
	// is so in JSON for a known table.
	fallback bool
}

// folderValue is the value of a folder's name; or why it has none.
type folderValue struct {
	v   types.Value
	err error
}

// inFolders reports a column that the files have not.
func (s *Source) inFolders(col int) bool {
	return slices.ContainsFunc(s.folders, func(f folderColumn) bool { return f.col == col && !f.fallback })
}

// of is the value for the rows of a file: NULL outside of such folders.
func (f *folderColumn) of(in *input, t types.Type) folderValue {
	if v, ok := f.values[in]; ok {
		return v
	}
	return folderValue{v: types.NullOf(t)}
}

// addFolders adds the columns that folders give the files and that the files have not themselves.
func (s *Source) addFolders() {
	own := len(s.cols)
	var found [][]*partition // by column and file
	for i, f := range s.files {
		for _, p := range partitionsOf(f.path) {
			c := slices.IndexFunc(s.cols, func(c catalog.ColumnDef) bool { return strings.EqualFold(c.Name, p.name) })
			if c < 0 {
				c = len(s.cols)
				s.cols = append(s.cols[:c:c], catalog.ColumnDef{Name: p.name})
				found = append(found, make([]*partition, len(s.files)))
			}
			if c >= own {
				found[c-own][i] = &p
			}
		}
	}
	for c := own; c < len(s.cols); c++ {
		def := &s.cols[c]
		list := found[c-own]
		def.Type, def.NotNull = partitionType(list), true
		f := folderColumn{col: c, values: map[*input]folderValue{}}
		for i, p := range list {
			if p != nil {
				f.values[s.files[i]] = p.value(s.files[i], def)
			}
			def.NotNull = def.NotNull && !f.of(s.files[i], def.Type).v.Null
		}
		s.folders = append(s.folders, f)
		for len(s.hunches) < c {
			s.hunches = append(s.hunches, hunch{})
		}
		s.hunches = append(s.hunches, f.hunch())
	}
}

// value is the value that a file's rows have of a column.
func (p *partition) value(in *input, def *catalog.ColumnDef) folderValue {
	v := types.NullOf(def.Type)
	if p.null || p.text == "" && def.Type.Kind != types.Text {
		return folderValue{v: v}
	}
	v, err := types.ParseValue(def.Type, p.text)
	if err != nil {
		err = located(err, "file %s, column %q, which is in the name of a folder", in.path, def.Name)
	}
	return folderValue{v, err}
}

// foldersFor finds those of some columns, of known types, that a folder of some file is named after.
func (s *Source) foldersFor(cols []catalog.ColumnDef) (out []folderColumn) {
	for c := range cols {
		def := &cols[c]
		f := folderColumn{col: c, values: map[*input]folderValue{}}
		for _, in := range s.files {
			for _, p := range partitionsOf(in.path) {
				if strings.EqualFold(p.name, def.Name) {
					f.values[in] = p.value(in, def)
				}
			}
		}
		if len(f.values) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// partitionType is the type for all values: a DATE, TIMESTAMP or BIGINT, else text. Numbers with zeros before them
// are texts, since the zeros may mean something; but months, days and hours of two digits are numbers.
func partitionType(list []*partition) types.Type {
	var g guess
	any, padded, twoDigits := false, false, true
	for _, p := range list {
		if p == nil || p.null || p.text == "" {
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

// hunch is what the values are like.
func (f *folderColumn) hunch() hunch {
	seen := map[string]bool{}
	length := 0
	for _, x := range f.values {
		if x.v.Null {
			continue
		}
		if text := x.v.String(); !seen[text] {
			seen[text] = true
			length += len(text)
		}
	}
	n := max(len(seen), 1)
	return hunch{distinct: float64(n), length: max(float64(length)/float64(n), 1)}
}

// folderTarget is where the values of a column of folders go.
type folderTarget struct {
	f *folderColumn
	b *column.Builder
}

// append appends the value of a file's rows.
func (t *folderTarget) append(in *input, rows int) error {
	x := t.f.of(in, t.b.Type())
	if x.err != nil && rows > 0 {
		return x.err
	}
	for range rows {
		t.b.Append(x.v)
	}
	return nil
}

// Parts are the files, as segments whose chunks say what is the same in all rows of a file.
func (st *textStream) Parts() (out []*catalog.Segment) {
	if len(st.s.folders) == 0 {
		return nil
	}
	for _, in := range st.files {
		seg := &catalog.Segment{Rows: 1, Chunks: make([]*column.Chunk, len(st.s.cols))}
		for i := range st.s.folders {
			f := &st.s.folders[i]
			t := st.s.cols[f.col].Type
			c := &column.Chunk{Shape: column.PlainShape(t), Type: t, Rows: 1}
			if v := f.of(in, t).v; v.Null {
				c.Zone.NullCount = 1
			} else {
				c.Zone.NoNulls, c.Zone.Min, c.Zone.Max = true, v, v
			}
			seg.Chunks[f.col] = c
		}
		out = append(out, seg)
	}
	return out
}

// Keep has the stream read only those parts.
func (st *textStream) Keep(parts []bool) {
	var files []*input
	for i, in := range st.files {
		if parts[i] {
			files = append(files, in)
		}
	}
	st.files = files
}
