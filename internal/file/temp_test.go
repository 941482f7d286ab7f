package file

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestStaleTemporaries kills a process that writes a file: the next writer in the folder cleans up after
// it, but not after those that are alive.
func TestStaleTemporaries(t *testing.T) {
	cols := defs(t, "a INTEGER")
	if dir := os.Getenv("KELPIE_TEST_WRITE"); dir != "" { // the process to be killed
		if _, err := NewWriter(filepath.Join(dir, "dead.csv"), Auto, cols, Options{}); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("open\n")
		time.Sleep(time.Minute)
		return
	}
	if lock, _ := lockFile(write(t, "x", "")); lock == nil {
		t.Skip("no locks here")
	} else {
		lock.Close()
	}
	dir := filepath.Join(t.TempDir(), "odd [name]*?") // which is no pattern
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStaleTemporaries$")
	cmd.Env = append(os.Environ(), "KELPIE_TEST_WRITE="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range list {
			if strings.HasSuffix(e.Name(), ".tmp") {
				n++
			}
		}
		return n
	}
	save := func(name string) Writer {
		t.Helper()
		w, err := NewWriter(filepath.Join(dir, name), Auto, cols, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	own := save("own.csv") // stays open
	if n := count(); n != 2 {
		t.Fatalf("%d files are being written, should be 2", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	// What merely looks similar is not ours to remove.
	for _, name := range []string{".x.tmp", "x.1-2.tmp", ".x.a-2.tmp", ".x.1-2.tmp.gz"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	next := save("next.csv")
	if n := count(); n != 2+3 {
		t.Errorf("%d files are left, should be two that are being written and three that are not ours", n)
	}
	for _, w := range []Writer{own, next} {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"own.csv", "next.csv"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(b, []byte("a\n")) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if n := count(); n != 3 {
		t.Errorf("%d files are left, should be 3", n)
	}
}

// TestUnlinked: a file that is gone is missing, one that was cut short while it is read has changed;
// neither is damaged.
func TestUnlinked(t *testing.T) {
	for _, col := range []int{0, 1} {
		path := filepath.Join(t.TempDir(), "f.parquet")
		table, err := loadFile(write(t, "f.csv", "a,s\n"+strings.Repeat("1,x\n2,y\n", 5000)), Options{}, nil, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := save(table, path, Options{}); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		read := func(change func() error) error {
			open := src.Table("f", true, nil).Snapshot().External.Begin(catalog.ScanOptions{Dict: true, Map: col == 0})
			if change == nil { // before anything is open
				if err := os.Rename(path, path+"~"); err != nil {
					t.Fatal(err)
				}
				defer os.Rename(path+"~", path)
			}
			snap, err := open.Open(ctx, []int{col}, nil)
			if err != nil {
				return err
			}
			if change != nil {
				h, done, err := open.(*parquetQuery).handle(src.parquet[0])
				if err != nil {
					t.Fatal(err)
				}
				defer done()
				if col == 0 {
					src.parquet[0].mapped(h)
				}
				if err := change(); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err = snap.Segments[0].Loader.Load(ctx, col, nil, func(size int) (uintptr, error) {
				mem, err := column.Alloc(size)
				if err != nil {
					return 0, err
				}
				t.Cleanup(mem.Free)
				return mem.Addr(), nil
			})
			return err
		}
		if err := read(nil); diag.CodeOf(err) != diag.UndefinedFile {
			t.Errorf("a file that is gone: %v", err)
		}
		// The rename has changed the inode, but what matters is the file under its name.
		if src, err = Open(path, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := read(func() error { return os.Truncate(path, 100) }); err == nil || !strings.Contains(err.Error(), "was changed while it was read") {
			t.Errorf("a file that was cut short: %v", err)
		}
	}
}
