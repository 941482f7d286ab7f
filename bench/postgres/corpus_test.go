package postgres

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/corpus"
)

var rewrite = flag.Bool("rewrite", false, "write PostgreSQL's rows into the files of the corpus")

// TestCorpusPostgres: PostgreSQL confirms the answers of the corpus, rows and SQLSTATEs, except where a record
// says why not. KELPIE_CORPUS_FILES chooses files by a pattern.
func TestCorpusPostgres(t *testing.T) {
	d := Open(t)
	pattern := os.Getenv("KELPIE_CORPUS_FILES")
	if pattern == "" {
		pattern = "../../internal/session/testdata/corpus/*.test"
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	asked, own := 0, 0
	for _, path := range paths {
		f, err := corpus.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Reset(); err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Records {
			if r.NoPG != "" {
				own++
				continue
			}
			asked++
			rows, err := d.Cells(r.SQL)
			if *rewrite && r.Query && err == nil {
				r.Rows = nil
				for _, row := range rows {
					r.Rows = append(r.Rows, corpus.RowText(row))
				}
				continue
			}
			at := func(format string, args ...any) {
				t.Errorf("%s.test:%d: "+format+"\n%s", append(append([]any{f.Name, r.Line}, args...), r.SQL)...)
			}
			switch {
			case err == nil && r.Code != "":
				at("PostgreSQL gives no error, not %s", r.Code)
			case err != nil && Code(err) != r.Code:
				at("PostgreSQL: %v", err)
			case err == nil && r.Query:
				if diff := r.Diff(rows, true); diff != "" {
					at("PostgreSQL: %s", diff)
				}
			}
		}
		if *rewrite {
			if err := os.WriteFile(path, []byte(f.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("PostgreSQL was asked for %d records; %d are our own", asked, own)
	if own*10 > asked+own {
		t.Errorf("%d of %d records are not confirmed by PostgreSQL", own, asked+own)
	}
}
