package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// outcome is what a statement gave, as testdata/transactions.txt has it.
func outcome(s *Session, text string) []string {
	res, err := s.Query(context.Background(), text)
	if err != nil {
		return []string{"! " + diag.CodeOf(err)}
	}
	defer res.Close()
	var out []string
	for _, w := range res.Warnings {
		out = append(out, "~ "+w.Code)
	}
	if res.Columns == nil {
		return append(out, res.CommandTag())
	}
	for _, row := range res.Values() {
		var cells []string
		for _, v := range row {
			if v.String() == "" {
				v = types.TextValue("(empty)")
			}
			cells = append(cells, v.String())
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

func TestTransactions(t *testing.T) {
	text, err := os.ReadFile("testdata/transactions.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(text), "\n== ")[1:]
	if len(cases) < 20 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		name, steps, _ := strings.Cut(c, "\n")
		t.Run(name, func(t *testing.T) {
			db := NewDB()
			sessions := map[string]*Session{"a": New(db), "b": New(db)}
			rowsOf(t, sessions["a"], "create table t (k int, v int); insert into t values (1, 10), (2, 20)")
			lines := strings.Split(strings.TrimSpace(steps), "\n")
			for i := 0; i < len(lines); {
				who, sql, _ := strings.Cut(lines[i], ": ")
				s := sessions[who]
				if s == nil {
					t.Fatalf("line %q", lines[i])
				}
				var want []string
				for i++; i < len(lines) && strings.HasPrefix(lines[i], "   "); i++ {
					want = append(want, strings.TrimSpace(lines[i]))
				}
				if got := outcome(s, sql); strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("%s: %s\ngot  %q\nwant %q", who, sql, got, want)
				}
			}
		})
	}
}

// TestTransactionCopy: COPY is a part of the transaction, with the defaults of columns that the file does not have.
func TestTransactionCopy(t *testing.T) {
	db := NewDB()
	a, b := New(db), New(db)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(in, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rowsOf(t, a, "create table t (k int unique, v int default 40 + 2)")
	rowsOf(t, a, "begin; insert into t values (7, 7); copy t (k) from '"+in+"' (header false)")
	if got := rowsOf(t, a, "select k, v from t order by k"); got != "1|42\n2|42\n7|7\n" {
		t.Error(got)
	}
	if got := rowsOf(t, b, "select count(*) from t"); got != "0\n" {
		t.Error("others see", got)
	}
	rowsOf(t, a, "copy t to '"+out+"' (header false)")
	if got, _ := os.ReadFile(out); string(got) != "7,7\n1,42\n2,42\n" {
		t.Errorf("the file has %q", got)
	}
	if got := outcome(a, "copy t (k) from '"+in+"' (header false)"); got[0] != "! 23505" {
		t.Error(got)
	}
	if got := outcome(a, "commit"); got[0] != "ROLLBACK" {
		t.Error(got)
	}
	if got := rowsOf(t, a, "select count(*) from t"); got != "0\n" {
		t.Error("a failed transaction has left", got)
	}
}

// TestOpenResults: a result stays what it was, whatever becomes of its tables and its transaction.
func TestOpenResults(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "create table t as select g, 'text '||g s from generate_series(1, 50000) x(g)")
	rowsOf(t, s, "begin; delete from t where g > 40000")
	res, err := s.Query(context.Background(), "select g, s from t")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	first := len(res.Take(100))
	rowsOf(t, s, "truncate t; rollback; drop table t")
	rest := res.Values()
	if first+len(rest) != 40000 || rest[len(rest)-1][1].S == "" {
		t.Errorf("%d rows", first+len(rest))
	}
}

// TestSessionClose: what was open is rolled back, and nothing can be run any more.
func TestSessionClose(t *testing.T) {
	db := NewDB()
	a, b := New(db), New(db)
	rowsOf(t, a, "create table t (x int); begin; insert into t values (1)")
	if a.Status() != InTransaction || b.Status() != Idle {
		t.Errorf("status %c and %c", a.Status(), b.Status())
	}
	a.Close()
	a.Close()
	if a.Status() != Idle {
		t.Errorf("status %c", a.Status())
	}
	if got := outcome(a, "select 1"); got[0] != "! 08003" {
		t.Error(got)
	}
	if got := rowsOf(t, b, "select count(*) from t"); got != "0\n" {
		t.Error(got)
	}
}

// TestConcurrentWriters has sessions change one table at once, each statement by itself and in transactions
// that are tried again after 40001. No change may get lost, and no reader may see half of one.
func TestConcurrentWriters(t *testing.T) {
	db := NewDB()
	setup := New(db)
	rowsOf(t, setup, "create table acct (id int primary key, n bigint); insert into acct select g, 100 from generate_series(1, 10) x(g)")
	rowsOf(t, setup, "create table log (w int, i int); create table total (n bigint); insert into total values (0)")
	const writers, rounds = 4, 12
	var readers, wg sync.WaitGroup
	stop := make(chan struct{})
	readers.Add(1)
	go func() { // money is moved, never made
		defer readers.Done()
		s := New(db)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if got := outcome(s, "select (select sum(n) from acct), (select count(*) from log) - (select n from total)"); got[0] != "1000|0" {
				t.Errorf("a reader sees %v", got)
				return
			}
		}
	}()
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := New(db)
			s.Configure(func(x *Settings) { x.Threads = 1 })
			for i := range rounds {
				from, to := (w+i)%10+1, (w*3+i*7)%10+1
				// A transaction over three tables, until nobody comes between.
				for {
					got := outcome(s, fmt.Sprintf(`begin; update acct set n = n - 5 where id = %d; update acct set n = n + 5 where id = %d;
						insert into log values (%d, %d); update total set n = n + 1; commit`, from, to, w, i))
					if got[0] == "COMMIT" {
						break
					}
					if got[0] != "! 40001" {
						t.Errorf("writer %d: %v", w, got)
						return
					}
					if s.Status() == Failed {
						outcome(s, "rollback")
					}
				}
				// A statement by itself never fails for what others do.
				if got := outcome(s, fmt.Sprintf("update acct set n = case id when %d then n + 1 when %d then n - 1 else n end", from, from%10+1)); got[0] != "UPDATE 10" {
					t.Errorf("writer %d: %v", w, got)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if got := outcome(setup, "select count(*), count(distinct w * 1000 + i), (select n from total) from log"); got[0] != "48|48|48" {
		t.Errorf("in the end %v", got)
	}
}

// TestConcurrentInserts: statements that only add rows never conflict, and each key is there once.
func TestConcurrentInserts(t *testing.T) {
	db := NewDB()
	setup := New(db)
	rowsOf(t, setup, "create table t (k int primary key, w int)")
	var wg sync.WaitGroup
	var mu sync.Mutex
	twice := 0
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := New(db)
			for i := range 40 { // falling, so that the index is needed; every key is tried by two
				switch got := outcome(s, fmt.Sprintf("insert into t values (%d, %d)", (w/2)*1000-i, w)); got[0] {
				case "INSERT 0 1":
				case "! 23505":
					mu.Lock()
					twice++
					mu.Unlock()
				default:
					t.Errorf("writer %d: %v", w, got)
				}
			}
		}()
	}
	wg.Wait()
	if got := outcome(setup, "select count(*), count(distinct k) from t"); got[0] != "80|80" || twice != 80 {
		t.Errorf("%v rows, %d refused", got, twice)
	}
}

// TestSharedSession: goroutines that share a session take turns in its transaction, and its settings are
// safe to read and write at any time.
func TestSharedSession(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "create table t (x int); begin")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 10 {
				for _, sql := range []string{fmt.Sprintf("insert into t values (%d)", g*10+i), "update t set x = x", "select sum(x) from t",
					fmt.Sprintf("set application_name = 'n%d'", g), "show application_name", "set timezone = 'UTC'", "show all",
					"set disabled_optimizers = 'reduce'", "show disabled_optimizers", "reset all"} {
					if got := outcome(s, sql); strings.HasPrefix(got[0], "!") {
						t.Errorf("%s: %v", sql, got)
					}
				}
			}
		}()
	}
	wg.Wait()
	if got := outcome(s, "commit"); got[0] != "COMMIT" {
		t.Fatal(got)
	}
	if got := rowsOf(t, s, "select count(*), sum(x) from t"); got != "80|3160\n" {
		t.Error(got)
	}
}

// TestTransactionWait: who waits for the session's turn can be canceled, and Close waits for it.
func TestTransactionWait(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "begin")
	tr, err := s.enter(context.Background()) // as a statement that runs
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error, 1)
	go func() {
		_, err := s.Query(ctx, "select 1")
		waiting <- err
	}()
	cancel()
	if err := <-waiting; diag.CodeOf(err) != diag.QueryCanceled {
		t.Errorf("waited and got %v", err)
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("closed while a statement runs")
	case <-time.After(20 * time.Millisecond):
	}
	<-tr.turn
	<-closed
}
