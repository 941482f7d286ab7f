package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestStatementTimeout: a statement that takes longer is canceled, for that reason, and the next one is not.
func TestStatementTimeout(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "create table t as select g from generate_series(1, 100000) x(g); create table u (g bigint)")
	rowsOf(t, s, "set statement_timeout = '30ms'")
	endless := "select sum(a.g * b.g) from t a, t b"
	for _, sql := range []string{endless, "insert into u " + endless, "explain analyze " + endless, "begin; " + endless,
		"copy (" + endless + ") to '" + t.TempDir() + "/x.csv'"} {
		start := time.Now()
		_, err := s.Query(context.Background(), sql)
		var e *diag.Error
		if !errors.As(err, &e) || e.Code != diag.QueryCanceled || e.Msg != "canceling statement due to statement timeout" {
			t.Errorf("%s: %v", sql, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", sql, took)
		}
		if s.Status() == Failed {
			rowsOf(t, s, "rollback")
		}
	}
	// Another one who cancels is not taken for it.
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	rowsOf(t, s, "set statement_timeout = '1h'")
	if _, err := s.Query(ctx, endless); err == nil || !strings.Contains(err.Error(), "due to user request") {
		t.Error(err)
	}
	rowsOf(t, s, "set statement_timeout = 0")
	if got := rowsOf(t, s, "select count(*) from t; "); got != "100000\n" {
		t.Error(got)
	}
	if got := rowsOf(t, s, "select count(*) from u"); got != "0\n" {
		t.Error("a canceled INSERT has left", got)
	}
}

// TestSettings: values are read and shown as PostgreSQL does, and refused where they would ask for something that we do not do.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ set, show string }{
		{"statement_timeout = 1500", "1500ms"},
		{"statement_timeout = '1.5s'", "1500ms"},
		{"statement_timeout = '90000'", "90s"},
		{"statement_timeout = '2 min'", "2min"},
		{"statement_timeout = '1h'", "1h"},
		{"statement_timeout = '2d'", "2d"},
		{"statement_timeout = '100us'", "0"},
		{"statement_timeout = '2500us'", "2ms"},
		{"statement_timeout = 0", "0"},
		{"statement_timeout = 2.5", "2ms"},
		{"statement_timeout = 2147483647", "2147483647ms"},
		{"statement_timeout = '25d'", "! 22023"},
		{"statement_timeout = -1", "! 22023"},
		{"statement_timeout = '1 parsec'", "! 22023"},
		{"statement_timeout = '1min 5s'", "! 22023"},
		{"statement_timeout = 's'", "! 22023"},
		{"statement_timeout = ''", "! 22023"},
		{"application_name = 'My App'", "My App"},
		{"client_encoding = 'utf-8'", "UTF8"},
		{"client_encoding = 'LATIN1'", "! 0A000"},
		{"client_min_messages = WARNING", "warning"},
		{"client_min_messages = loud", "! 22023"},
		{"datestyle = iso", "ISO, MDY"},
		{"datestyle = 'ISO, DMY'", "ISO, MDY"},
		{"datestyle = iso, ymd", "ISO, MDY"},
		{"datestyle = German", "! 0A000"},
		{"extra_float_digits = 3", "3"},
		{"extra_float_digits = 0", "! 0A000"},
		{"extra_float_digits = 4", "! 22023"},
		{"intervalstyle = postgres", "postgres"},
		{"intervalstyle = iso_8601", "! 0A000"},
		{"search_path = public", "public"},
		{"search_path = \"$user\", public", "$user, public"},
		{"search_path = ''", "(empty)"},
		{"search_path = analytics, public", "analytics, public"},
		{"standard_conforming_strings = on", "on"},
		{"standard_conforming_strings = off", "! 0A000"},
		{"timezone = 'Etc/UTC'", "Etc/UTC"},
		{"timezone = 'Europe/Berlin'", "Europe/Berlin"},
		{"timezone = 'Mars/Base'", "! 22023"},
		{"default_transaction_read_only = yes", "on"},
		{"no_such_thing = 1", "! 42704"},
		{"threads = 3", "3"},
		{"threads = 0", "! 22023"},
	} {
		s := New(NewDB())
		name, _, _ := strings.Cut(c.set, " ")
		before := outcome(s, "show "+name)[0]
		got := outcome(s, "set "+c.set)[0]
		shown := outcome(s, "show "+name)[0]
		if got == "SET" {
			got = shown
		} else if shown != before {
			t.Errorf("SET %s is refused, and changes %s to %s", c.set, before, shown)
		}
		if got != c.show {
			t.Errorf("SET %s: %s, want %s", c.set, got, c.show)
		}
	}
	s := New(NewDB())
	if got := outcome(s, "set time zone 'UTC'; set time zone local; set names 'utf8'"); got[0] != "SET" {
		t.Error(got)
	}
}

// TestReset: RESET brings back what the session began with, not what an engine without options has.
func TestReset(t *testing.T) {
	s := New(NewDB())
	for name, value := range map[string]string{"threads": "3", "statement_timeout": "5s"} {
		if err := s.SetDefault(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, reset := range []string{"reset all", "reset threads; reset statement_timeout", "set threads to default; set statement_timeout to default"} {
		rowsOf(t, s, "set threads = 1; set statement_timeout = 1000; "+reset)
		if got := rowsOf(t, s, "show threads") + rowsOf(t, s, "show statement_timeout"); got != "3\n5s\n" {
			t.Errorf("%s: %q", reset, got)
		}
	}
}

// TestMessages: results carry the messages that were asked for.
func TestMessages(t *testing.T) {
	for level, want := range map[string]int{"debug1": 2, "notice": 2, "warning": 1, "error": 0} {
		s := New(NewDB())
		rowsOf(t, s, "set client_min_messages = "+level)
		n := 0
		for _, sql := range []string{"drop table if exists nosuch", "commit"} {
			res, err := s.Query(context.Background(), sql)
			if err != nil {
				t.Fatal(err)
			}
			n += len(res.Notices()) + len(res.Warnings)
		}
		if n != want {
			t.Errorf("%s: %d messages, want %d", level, n, want)
		}
	}
}
