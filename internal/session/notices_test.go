package session

import "testing"

// TestNotices: what a statement did not do, or did otherwise than one might think, is told.
func TestNotices(t *testing.T) {
	s := New(NewDB())
	for _, c := range []struct{ sql, want string }{
		{"create table n (a numeric, b decimal(10, 2), c dec not null, d numeric[], e int)", `column "a" is stored as DECIMAL(18,3): give NUMERIC a precision and scale to keep more digits; ` +
			`column "c" is stored as DECIMAL(18,3): give NUMERIC a precision and scale to keep more digits`},
		{"create table if not exists n (a numeric)", `relation "n" already exists, skipping`},
		{"create table o as select 1::numeric as x", ""},
		{"create index i on n (a)", `index "i" is remembered but not built: scans need none`},
		{"create index if not exists i on n (a)", `relation "i" already exists, skipping`},
		{"create schema if not exists main", `schema "main" already exists, skipping`},
		{"alter table n drop column if exists x", `column "x" of relation "n" does not exist, skipping`},
		{"create view v as select a from n", ""},
		{"drop table n cascade", "drop cascades to view v"},
		{"drop table if exists n", `table "n" does not exist, skipping`},
	} {
		if _, got, err := asked(s, c.sql); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.sql, got, err, c.want)
		}
	}
}
