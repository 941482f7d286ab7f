package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzCSV: any text gives rows or an error, never a panic, and the same however it is cut and by however many
// goroutines it is read.
func FuzzCSV(f *testing.F) {
	for _, c := range csvCases {
		flags := byte(0)
		if c.opts.Format == Text {
			flags |= 1
		}
		if c.opts.Escape != 0 {
			flags |= 2
		}
		f.Add([]byte(c.text), flags)
	}
	f.Fuzz(func(t *testing.T, text []byte, flags byte) {
		opts := Options{Format: CSV, Delimiter: ','}
		if flags&1 != 0 {
			opts = Options{Format: Text, Delimiter: '\t'}
		} else if flags&2 != 0 {
			opts.Escape = '\\'
		}
		if flags&4 != 0 {
			opts.HasHeader, opts.Header = true, true
		}
		if flags&8 != 0 {
			opts.HasNull, opts.Null = true, "NA"
		}
		cols := defs(t, "a INTEGER, b VARCHAR, c DECIMAL(10,2)")
		switch flags >> 4 & 3 {
		case 1:
			cols = defs(t, "a VARCHAR")
		case 2:
			cols = defs(t, "a VARCHAR, b VARCHAR(5)")
		case 3:
			cols = defs(t, "a DATE, b TIMESTAMP, c DOUBLE, d BIGINT")
		}
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		opts.Columns = cols
		result := func(tune func(*cutting), threads int) string {
			table, err := loadFile(path, opts, cols, tune, threads)
			if err != nil {
				if strings.Contains(err.Error(), "internal error") {
					t.Fatal(err)
				}
				return message(err, path)
			}
			return dump(table)
		}
		want := result(nil, 1)
		for _, tune := range splits[1:] {
			same(t, "cut otherwise", result(tune, 3), want)
		}
		// And with nothing known.
		if _, err := loadFile(path, Options{}, nil, splits[2], 2); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}

// FuzzParquet: whatever is damaged in a file, reading it gives rows or an error.
func FuzzParquet(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.parquet")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		tryParquet(t, path)
	})
}

// FuzzRoundTrip: a text survives being written and read.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", "a", "\"", "a,b", "\r\n", "\\N", "\\.", "ä\x00"} {
		f.Add(s, s+"x", byte(0))
	}
	f.Fuzz(func(t *testing.T, a, b string, flags byte) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		cols := defs(t, "a VARCHAR, b VARCHAR")
		table := newTable(cols)
		sb := table.NewSegmentBuilder()
		for _, row := range [][2]string{{a, b}, {b, a}, {"", a}} {
			sb.Cols[0].AppendString(row[0])
			sb.Cols[1].AppendString(row[1])
		}
		sb.Cols[0].AppendNull()
		sb.Cols[1].AppendNull()
		seg, err := table.Seal(sb)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Append(seg); err != nil {
			t.Fatal(err)
		}
		opts := []Options{{Format: CSV}, {Format: CSV, Escape: '\\', Delimiter: ';'}, {Format: CSV, Quote: '\'', Delimiter: ' ', Null: "x", HasNull: true}, {Format: Text}}[flags&3]
		path := filepath.Join(t.TempDir(), "x")
		if err := save(table, path, opts); err != nil {
			t.Fatal(err)
		}
		opts.Columns, opts.HasHeader, opts.Header = cols, true, opts.Format == CSV
		if opts.Delimiter == 0 && opts.Format == CSV {
			opts.Delimiter = ','
		} else if opts.Delimiter == 0 {
			opts.Delimiter = '\t'
		}
		for _, tune := range splits[:3] {
			back, err := loadFile(path, opts, cols, tune, 2)
			if err != nil {
				t.Fatal(message(err, path))
			}
			same(t, "rows", dump(back), dump(table))
		}
	})
}
