//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

func newPipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// TestPipe: a named pipe is read once, in blocks; who has enough stops whoever writes.
func TestPipe(t *testing.T) {
	s := New(NewDB())
	path := newPipe(t)
	write := func(rows int) chan error {
		done := make(chan error, 1)
		go func() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				done <- err
				return
			}
			defer f.Close()
			_, err = f.WriteString("k,s\n")
			for i := 0; err == nil && i != rows; i++ {
				_, err = fmt.Fprintf(f, "%d,text %d\n", i, i)
			}
			done <- err
		}()
		return done
	}
	for _, rows := range []int{0, 3, 1_000_000} {
		done := write(rows)
		want := fmt.Sprintf("%d|%d\n", rows, max(rows-1, 0))
		if got := rowsOf(t, s, "SELECT count(*), coalesce(max(cast(k AS bigint)), 0) FROM '"+path+"'"); got != want {
			t.Errorf("%d rows: %s", rows, got)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		done = write(rows)
		rowsOf(t, s, "CREATE OR REPLACE TABLE t(k bigint, s varchar)")
		rowsOf(t, s, "COPY t FROM '"+path+"' (FORMAT csv, HEADER)")
		if got := rowsOf(t, s, "SELECT count(*), coalesce(max(k), 0) FROM t"); got != want {
			t.Errorf("%d rows copied: %s", rows, got)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	// Without end.
	done := write(-1)
	if got := rowsOf(t, s, "SELECT * FROM '"+path+"' LIMIT 1"); got != "0|text 0\n" {
		t.Error(got)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("the writer: %v", err)
	}
	done = write(1_000_000)
	if _, err := s.Query(context.Background(), "WITH w AS (SELECT k FROM '"+path+"') SELECT count(*) FROM w a JOIN w b ON a.k = b.k + 1"); err != nil &&
		!strings.Contains(err.Error(), "read only once") {
		t.Error(err)
	}
	<-done
	if _, err := s.Query(context.Background(), "SELECT * FROM read_parquet('"+strings.TrimSuffix(path, ".csv")+"')"); err == nil {
		t.Error("no error for a pipe that does not exist")
	}
}

// TestPipeCancel: whoever waits for the other side of a pipe can be stopped.
func TestPipeCancel(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE t AS SELECT range AS k FROM range(0, 500000)")
	rowsOf(t, s, "CREATE TABLE u(k bigint)")
	path := newPipe(t)
	// Nobody opens it.
	for _, query := range []string{"SELECT * FROM '%s'", "DESCRIBE '%s'", "EXPLAIN SELECT * FROM '%s'", "COPY u FROM '%s' (FORMAT csv)",
		"COPY t TO '%s' (FORMAT csv)", "COPY t TO '%s' (FORMAT parquet)"} {
		within(t, s, fmt.Sprintf(query, path), 20*time.Millisecond)
	}
	// Somebody opens it and writes nothing, or too little, or reads nothing.
	for _, query := range []string{"SELECT * FROM '%s'", "SELECT count(*) FROM '%s'", "COPY u FROM '%s' (FORMAT csv, HEADER)"} {
		for _, text := range []string{"", "k\n1\n", "k\n" + strings.Repeat("12345678\n", 1<<20)} {
			f, stop := openPipeEnd(t, path, os.O_RDWR)
			go f.WriteString(text)
			within(t, s, fmt.Sprintf(query, path), 200*time.Millisecond)
			stop()
		}
	}
	_, stop := openPipeEnd(t, path, os.O_RDWR)
	within(t, s, fmt.Sprintf("COPY t TO '%s' (FORMAT csv)", path), 100*time.Millisecond)
	stop()
	// Others go on meanwhile.
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := New(s.DB).Query(ctx, "SELECT * FROM '"+path+"'")
		ended <- err
	}()
	small := filepath.Join(t.TempDir(), "small.csv")
	if err := os.WriteFile(small, []byte("a\n1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	if got := rowsOf(t, s, "SELECT a FROM '"+small+"'"); got != "1\n" {
		t.Error(got)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a query of a pipe that nobody writes ended")
	}
}

// openPipeEnd holds a pipe open.
func openPipeEnd(t *testing.T, path string, flag int) (*os.File, func()) {
	t.Helper()
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f, func() { f.Close() }
}

// TestDevices: what has no end is no file.
func TestDevices(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE u(s varchar)")
	dir := t.TempDir()
	for _, c := range []struct{ query, want string }{
		{"SELECT * FROM '/dev/zero'", "is a device, not a file (42809)"},
		{"SELECT * FROM read_csv('/dev/zero')", "is a device"},
		{"DESCRIBE '/dev/zero'", "is a device"},
		{"COPY u FROM '/dev/zero' (FORMAT csv)", "is a device"},
		{"COPY u FROM '/dev/random' (FORMAT text)", "is a device"},
		{"SELECT * FROM '" + dir + "'", "is a directory"},
		{"COPY u FROM '" + dir + "' (FORMAT csv)", "is a directory"},
		{"COPY u TO '" + dir + "' (FORMAT csv)", "is a directory"},
		{"SELECT * FROM read_csv('/dev/null')", "is empty"},
	} {
		_, err := s.Query(context.Background(), c.query)
		if err == nil || !strings.Contains(diag.Format(err, ""), c.want) {
			t.Errorf("%s: %v", c.query, err)
		}
	}
	rowsOf(t, s, "COPY u FROM '/dev/null' (FORMAT csv)")
	rowsOf(t, s, "COPY u TO '/dev/null' (FORMAT csv)")
	rowsOf(t, s, "COPY u TO '/dev/null' (FORMAT parquet)")
}

// within runs a query that is to be cancelled after some time, and looks how soon it answers: soon in one of three attempts, for
// the machine may be busy with something else.
func within(t *testing.T, s *Session, query string, after time.Duration) {
	t.Helper()
	late := ""
	for range 3 {
		if late = answersLate(t, s, query, after); late == "" {
			return
		}
	}
	t.Error(late)
}

// answersLate says by how much a cancelled query answers too late, "" if it does not.
func answersLate(t *testing.T, s *Session, query string, after time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var canceled time.Time
	var used time.Duration
	time.AfterFunc(after, func() { canceled, used = time.Now(), cpuTime(); cancel() })
	res, err := s.Query(ctx, query)
	if err == nil {
		res.Close()
		t.Errorf("%s: it ended by itself", query)
		return ""
	}
	if d := (*diag.Error)(nil); !errors.As(err, &d) || d.Code != diag.QueryCanceled {
		t.Errorf("%s: %v", query, err)
	} else if took, cpu := time.Since(canceled), cpuTime()-used; took > soon && cpu > soon*time.Duration(runtime.GOMAXPROCS(0)) {
		return fmt.Sprintf("%s: it answered %v and %v of processor time after it was cancelled", query, took, cpu)
	}
	return ""
}

// soon is when a cancelled query must have answered; where the machine is busy with something else, how
// much of each processor a query may have taken until then.
const soon = 50 * time.Millisecond

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestGenerateCancel: CALL answers soon, also while the text of TPC-H is made.
func TestGenerateCancel(t *testing.T) {
	s := New(NewDB())
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond} {
		within(t, s, "CALL tpch(sf => 100)", after)
		within(t, s, "CALL ssb(sf => 100)", after)
	}
}
