package kelpie

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestBugsAreLogged: the stack of a bug goes to the log, and to nobody who did not ask for it.
func TestBugsAreLogged(t *testing.T) {
	bug := func() (err error) {
		defer diag.Recover("test", &err)
		panic("something is missing")
	}
	var log bytes.Buffer
	db, err := Open(WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	e := export(bug())
	if text := e.Error() + e.(*Error).Format("select 1"); strings.Contains(text, "goroutine") || strings.Contains(text, ".go:") {
		t.Errorf("a user reads a stack: %s", text)
	}
	db.config.logBug(context.Background(), e, "select 1")
	for _, want := range []string{"something is missing", "select 1", "goroutine", "errors_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	log.Reset()
	if _, err := db.Session().Query(context.Background(), "select 1/0"); err == nil || log.Len() > 0 {
		t.Errorf("a user's mistake (%v) is logged: %s", err, log.String())
	}
}
