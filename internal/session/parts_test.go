package session

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// TestPartsRelease: a part of a file's rows takes memory from Load until its release.
func TestPartsRelease(t *testing.T) {
	s := New(NewDB())
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	write := fmt.Sprintf("copy (select i, 'a text of row ' || i as s from generate_series(1, 20000) g(i)) to '%s' (row_group_size 8000)", path)
	if _, err := s.Query(ctx, write); err != nil {
		t.Fatal(err)
	}
	stmts, err := Parse(fmt.Sprintf("select * from '%s'", path))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Statement(s.env(ctx, s.DB.Catalog.Begin()), stmts[0].Stmt, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.loadQuery(ctx, b.(*bind.Query).Plan, Timing{})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	rows, before := int64(0), res.exec.Account().Used()
	for _, p := range res.exec.Parts(5000) {
		release, err := res.exec.Load(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		rows += p.Hi - p.Lo
		if res.exec.Account().Used() <= before {
			t.Error("no memory is counted")
		}
		release()
		if used := res.exec.Account().Used(); used != before {
			t.Errorf("%d bytes after the release, %d before", used, before)
		}
	}
	if rows != 20000 {
		t.Errorf("%d rows", rows)
	}
}
