package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// testRoom is memory with a limit, which spoils what is given back.
type testRoom struct {
	mu    sync.Mutex
	limit int
	used  int
	most  int
	held  map[uintptr]*column.Mem
}

func newRoom(limit int) *testRoom { return &testRoom{limit: limit, held: map[uintptr]*column.Mem{}} }

func (r *testRoom) Take(size int) (uintptr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+size > r.limit {
		return 0, fmt.Errorf("no room for %d more bytes", size)
	}
	m, err := column.Alloc(size)
	if err != nil {
		return 0, err
	}
	r.used += size
	r.most = max(r.most, r.used)
	r.held[m.Addr()] = m
	spoil(m)
	return m.Addr(), nil
}

func (r *testRoom) Free(addr uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.held[addr]
	if m == nil {
		panic("free of what was not taken")
	}
	spoil(m)
	r.used -= m.Size()
	delete(r.held, addr)
}

func spoil(m *column.Mem) {
	for i, b := 0, m.Bytes(); i < len(b); i++ {
		b[i] = 0xA5
	}
}

// streamOf opens the columns of a source.
func streamOf(src *Source, cols []int) catalog.Stream {
	snap, err := src.Table("t", true, nil).Snapshot().External.Begin(catalog.ScanOptions{}).Open(context.Background(), cols, nil)
	if err != nil {
		panic(err)
	}
	return snap.Stream
}

// readStream reads all rows of a stream with some goroutines. The room must be kept while they are looked at.
func readStream(ctx context.Context, st catalog.Stream, room catalog.Room, threads int) (*catalog.Snapshot, error) {
	defer st.Close()
	var mu sync.Mutex
	var wg sync.WaitGroup
	segs := map[int]*catalog.Segment{}
	var failed error
	for range threads {
		wg.Go(func() {
			for {
				seg, num, err := st.Next(ctx, room)
				mu.Lock()
				if err != nil {
					failed = err
				}
				if seg != nil {
					segs[num] = seg
				}
				mu.Unlock()
				if seg == nil {
					return
				}
			}
		})
	}
	wg.Wait()
	snap := &catalog.Snapshot{}
	for num := 0; len(segs) > 0; num++ {
		if seg := segs[num]; seg != nil {
			snap.Segments = append(snap.Segments, seg)
			snap.Rows += int64(seg.Rows)
			delete(segs, num)
		}
	}
	return snap, failed
}

// streamFile is what a query would read of a path: rows as dump writes them, or an error.
func streamFile(path string, opts Options, tune func(*cutting), threads int) (string, error) {
	src, err := Open(path, opts)
	if err != nil {
		return "", err
	}
	src.tune = tune
	var cols []int
	for i := range src.Columns() {
		cols = append(cols, i)
	}
	room := newRoom(1 << 30)
	snap, err := readStream(context.Background(), streamOf(src, cols), room, threads)
	if err != nil {
		return "", err
	}
	out := dumpSnapshot(snap, cols)
	for _, seg := range snap.Segments {
		for _, c := range seg.Chunks {
			if c.Shape != column.PlainShape(c.Type) {
				return "", fmt.Errorf("a chunk of shape %v", c.Shape)
			}
			room.Free(c.Data) // each is a block
		}
	}
	return out, nil
}

// dumpSnapshot writes columns as dump does.
func dumpSnapshot(s *catalog.Snapshot, cols []int) string {
	var b strings.Builder
	for row := range s.Rows {
		for i, c := range cols {
			if i > 0 {
				b.WriteString(" ")
			}
			v := s.Value(row, c)
			if v.Type.Kind == types.Text && !v.Null {
				fmt.Fprintf(&b, "%q", v.S)
			} else {
				b.WriteString(v.String())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestQueryRoomGrows: a text that grows leaves nothing behind where it was.
func TestQueryRoomGrows(t *testing.T) {
	room := newRoom(1 << 20)
	q := queryRoom{room}
	var text []byte
	for i := range 1000 {
		var err error
		if text, err = q.grow(text, 1); err != nil {
			t.Fatal(err)
		}
		text = append(text, byte(i))
	}
	if len(room.held) != 1 || room.used != cap(text) || cap(text) > 1500 {
		t.Errorf("%d blocks with %d bytes for %d", len(room.held), room.used, len(text))
	}
	for i, b := range text {
		if b != byte(i) {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

// TestStreamCases: streaming gives what loading gives, however the text is cut.
func TestStreamCases(t *testing.T) {
	for _, c := range csvCases {
		if strings.Contains(c.cols, "NOT NULL") { // no query knows a file's constraints
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "x.csv", c.text)
			c.opts.Columns = defs(t, c.cols)
			if c.opts.Format == Auto {
				c.opts.Format = CSV
			}
			for i, tune := range splits {
				for threads := 1; threads <= 3; threads += 2 {
					got, err := streamFile(path, c.opts, tune, threads)
					if err != nil {
						got = message(err, path)
					}
					if got != c.want {
						t.Errorf("split %d, %d threads:\n%s\nwant\n%s", i, threads, got, c.want)
					}
				}
			}
		})
	}
}

// manyRows is a file with everything that makes cutting hard, of about so many bytes.
func manyRows(size int) string {
	var b strings.Builder
	b.WriteString("id,text,num,day\r\n")
	for i := 0; b.Len() < size; i++ {
		switch i % 7 {
		case 0:
			fmt.Fprintf(&b, "%d,\"a \"\"quoted\"\"\nline, %d\",%d.5,2020-02-%02d\r\n", i, i, i, i%28+1)
		case 1:
			fmt.Fprintf(&b, "%d,,,\n", i)
		case 2:
			fmt.Fprintf(&b, "%d,\"%s\",-0.25,\n\n", i, strings.Repeat("ä,\n", i%300))
		default:
			fmt.Fprintf(&b, "%d,plain %d,1e%d,1999-12-31\n", i, i, i%9)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestStreamBlocks: a file of many blocks, of which columns are left out, by many goroutines.
func TestStreamBlocks(t *testing.T) {
	path := write(t, "x.csv", manyRows(3<<20))
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(src.Columns())
	if _, err := src.Load(context.Background(), table, LoadOptions{}); err != nil {
		t.Fatal(message(err, path))
	}
	for _, cols := range [][]int{{0, 1, 2, 3}, {1}, {3, 0}, {}} {
		for _, threads := range []int{1, 8} {
			room := newRoom(1 << 30)
			snap, err := readStream(context.Background(), streamOf(src, cols), room, threads)
			if err != nil {
				t.Fatal(message(err, path))
			}
			if len(snap.Segments) < 5 {
				t.Errorf("only %d blocks", len(snap.Segments))
			}
			if got, want := dumpSnapshot(snap, cols), dumpSnapshot(table.Snapshot(), cols); got != want {
				t.Errorf("columns %v, %d threads: other rows", cols, threads)
			}
			runtime.KeepAlive(room)
		}
	}
}

// TestStreamMemory: reading takes the memory of a block per goroutine, and a row that does not fit is an error.
func TestStreamMemory(t *testing.T) {
	var b strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&b, "%d,some text\n", i)
	}
	src, err := Open(write(t, "x.csv", b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	room := newRoom(16 << 20)
	st := streamOf(src, []int{0, 1})
	defer st.Close()
	rows := 0
	for {
		seg, _, err := st.Next(context.Background(), room)
		if err != nil {
			t.Fatal(err)
		}
		if seg == nil {
			break
		}
		rows += seg.Rows
		for _, c := range seg.Chunks {
			room.Free(c.Data)
		}
	}
	if rows != 500_000 {
		t.Errorf("%d rows", rows)
	}
	path := write(t, "long.csv", "a,b\n1,\""+strings.Repeat("x", 20<<20)+"\"\n")
	if src, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := readStream(context.Background(), streamOf(src, []int{0, 1}), newRoom(16<<20), 1); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a row of 20 MB in 16 MB: %v", err)
	}
}

// TestStreamChanges: files that are cut short, rewritten or replaced are errors; those that grow or lose their name are not.
func TestStreamChanges(t *testing.T) {
	text := manyRows(1 << 20)
	for _, c := range []struct {
		name   string
		change func(path string) error
		fails  bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"shrinks", func(path string) error { return os.Truncate(path, 600<<10) }, true},
		{"is emptied", func(path string) error { return os.Truncate(path, 0) }, true},
		{"grows", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("\n7,more,1,2020-01-01\n")
				f.Close()
			}
			return err
		}, false},
		{"vanishes", os.Remove, false},
		{"is rewritten", func(path string) error { return os.WriteFile(path, []byte(strings.ToUpper(text)), 0o666) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "x.csv", text)
			src, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			st := streamOf(src, []int{0, 1, 2, 3})
			defer st.Close()
			room := newRoom(1 << 30)
			for n := 0; ; n++ {
				seg, _, err := st.Next(context.Background(), room)
				if n == 2 {
					if err := c.change(path); err != nil {
						t.Fatal(err)
					}
				}
				if seg != nil {
					continue
				}
				if (err != nil) != c.fails {
					t.Errorf("error: %v", err)
				}
				return
			}
		})
	}
	path := write(t, "x.csv", text)
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(write(t, "y.csv", text), path); err != nil {
		t.Fatal(err)
	}
	if _, err := readStream(context.Background(), streamOf(src, []int{0}), newRoom(1<<30), 1); err == nil {
		t.Error("another file under the same name is read with the columns of the first")
	}
}

// TestGuessedLossy: a number after the sample that the guessed type would change is an error, too.
func TestGuessedLossy(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"10115\n20095\n01067\n", "BIGINT would lose the zeros of \"01067\" (22P02)"},
		{"1.5\n2.5\n007.5\n", "DOUBLE would lose the zeros of \"007.5\" (22P02)"},
		{"1.5\n2.5\n\"-00\"\n", "DOUBLE would lose the zeros of \"-00\" (22P02)"},
		{"1.5\n2.5\n12345678901234567891\n", "DOUBLE would lose digits of \"12345678901234567891\" (22003)"},
		{"1.5\n2.5\n1234567890123456789012345678901234567890\n", "DOUBLE would lose digits of"},
		{"1\n2\n12345678901234567891\n", "value \"12345678901234567891\" is out of range for type bigint (22003)"},
	} {
		path := write(t, "x.csv", c.text)
		_, err := streamFile(path, Options{SampleRows: 2, Delimiter: ','}, nil, 1)
		if got := message(err, path); !strings.Contains(got, c.want) || !strings.Contains(got, "file x.csv, line 3, column \"column0\"\nHINT: the type") {
			t.Errorf("%q: %s\nwant %s", c.text, got, c.want)
		}
	}
	path := write(t, "x.csv", "1.5\n-0.25\n0\n-1\n100000000000000000000\n+0.5\n")
	if got, err := streamFile(path, Options{SampleRows: 2}, nil, 1); err != nil || got != "1.5\n-0.25\n0\n-1\n1e+20\n0.5\n" {
		t.Errorf("%s%v", got, err)
	}
	// Whoever asks for a type gets it.
	if got, err := streamFile(write(t, "x.csv", "01067\n"), Options{Columns: defs(t, "a BIGINT")}, nil, 1); err != nil || got != "1067\n" {
		t.Errorf("%s%v", got, err)
	}
}

// TestSampleSize: all rows are looked at if they shall be, with little memory.
func TestSampleSize(t *testing.T) {
	path := write(t, "x.csv", strings.Repeat("1,2\n", 2_000_000)+"x,2.5\n")
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{}, "column0 BIGINT, column1 BIGINT"},
		{Options{SampleRows: 100_000}, "column0 BIGINT, column1 BIGINT"},
		{Options{SampleRows: -1}, "column0 VARCHAR, column1 DOUBLE"},
		{Options{AllText: true}, "column0 VARCHAR, column1 VARCHAR"},
	} {
		src, err := Open(path, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(src.Columns()); got != c.want {
			t.Errorf("%+v: %s", c.opts, got)
		}
	}
}

// TestManyColumns: a row of ten thousand fields.
func TestManyColumns(t *testing.T) {
	row := strings.Repeat("1,", 9999) + "2\n"
	path := write(t, "x.csv", row+row+row)
	want := strings.ReplaceAll(row+row+row, ",", " ")
	for _, tune := range splits[:3] {
		got, err := streamFile(path, Options{}, tune, 2)
		if err != nil {
			t.Fatal(message(err, path))
		}
		same(t, "rows", got, want)
	}
}

// FuzzStream: streaming in pieces of any size gives what loading the whole gives.
func FuzzStream(f *testing.F) {
	for _, c := range csvCases {
		f.Add([]byte(c.text), uint8(7), uint8(3), c.opts.Format == Text)
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk, rows uint8, escapes bool) {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, cols := range [][]catalog.ColumnDef{nil, defs(t, "a VARCHAR, b VARCHAR"), defs(t, "a DOUBLE, b BIGINT, c VARCHAR")} {
			opts := Options{Format: CSV, Columns: cols}
			if escapes {
				opts.Format = Text
			}
			want, got := "", ""
			table, err := loadFile(path, opts, nil, nil, 1)
			if err != nil {
				want = message(err, path)
			} else {
				want = dump(table)
			}
			tune := func(s *cutting) { s.chunk, s.size, s.rows = int(chunk)+1, int(chunk)+1, int(rows)+1 }
			if got, err = streamFile(path, opts, tune, 3); err != nil {
				got = message(err, path)
			}
			same(t, "rows", got, want)
		}
	})
}
