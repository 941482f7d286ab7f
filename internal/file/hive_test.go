package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

func TestPartitionsOf(t *testing.T) {
	for path, want := range map[string]string{
		"x.parquet":                              "",
		"a=1/x.parquet":                          "a:1",
		"/data/a=1/b=x%2Fy%3Dz/c.parquet":        "a:1 b:x/y=z",
		"data/a%20b=1/x=2.parquet":               "a b:1",
		"a=1/a=2/b=/=3/x.parquet":                "a:2 b:",
		"a=%zz/b=x=y/c.parquet":                  "a:%zz b:x=y",
		"a=__HIVE_DEFAULT_PARTITION__/x.parquet": "a:NULL",
		"./ä=ö/x.csv":                            "ä:ö",
		"a=%ff/b=%00/\xff=\xfe/x.csv":            "a:%ff b:%00 ?:?",
		"A=1/a=2/x.csv":                          "a:2",
	} {
		got := ""
		for i, p := range partitionsOf(path) {
			if i > 0 {
				got += " "
			}
			if p.null {
				p.text = "NULL"
			}
			got += p.name + ":" + p.text
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestPartitionTypes(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{"1", "2", "-3"}, "BIGINT"},
		{[]string{"01", "02", "12"}, "BIGINT"},
		{[]string{"01", "2"}, "VARCHAR"},
		{[]string{"007", "123"}, "VARCHAR"},
		{[]string{"1", "-0"}, "VARCHAR"},
		{[]string{"1", "9223372036854775808"}, "VARCHAR"},
		{[]string{"1.5"}, "VARCHAR"},
		{[]string{"2024-01-01", "2024-02-29"}, "DATE"},
		{[]string{"2024-01-01", "2024-02-30"}, "VARCHAR"},
		{[]string{"2024-01-01 10:00:00"}, "TIMESTAMP"},
		{[]string{"true"}, "VARCHAR"},
		{[]string{"nan"}, "VARCHAR"},
		{[]string{"", "5"}, "BIGINT"},
		{[]string{""}, "VARCHAR"},
		{nil, "VARCHAR"},
	} {
		var list []*partition
		for _, v := range c.values {
			list = append(list, &partition{text: v}, nil)
		}
		if got := partitionType(list).String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.values, got, c.want)
		}
	}
}

// TestPartsNotKept: files that are left out are not opened: here, because they are gone.
func TestPartsNotKept(t *testing.T) {
	for name, text := range map[string]string{"x.csv": "a,b\n1,2\n", "x.json": `{"a":1,"b":2}`} {
		dir := t.TempDir()
		for _, folder := range []string{"y=1", "y=2", "y=__HIVE_DEFAULT_PARTITION__"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		src, err := Open(dir+"/*/"+name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "y=2", name)); err != nil {
			t.Fatal(err)
		}
		if _, err := readStream(context.Background(), streamOf(src, []int{0, 2}), newRoom(1<<30), 2); diag.CodeOf(err) != diag.UndefinedFile {
			t.Error(err)
		}
		st := streamOf(src, []int{0, 2}).(catalog.Parted)
		var parts []string
		for _, seg := range st.Parts() {
			if z := &seg.Chunks[2].Zone; z.NullCount == seg.Rows {
				parts = append(parts, "NULL")
			} else {
				parts = append(parts, z.Min.String()+"…"+z.Max.String())
			}
		}
		if got := strings.Join(parts, " "); got != "1…1 2…2 NULL" {
			t.Error(got)
		}
		st.Keep([]bool{true, false, true})
		snap, err := readStream(context.Background(), st, newRoom(1<<30), 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := dumpSnapshot(snap, []int{0, 2}); got != "1 1\n1 NULL\n" {
			t.Error(got)
		}
	}
}
