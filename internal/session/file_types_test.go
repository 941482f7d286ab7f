package session

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTypesThroughFiles writes a table of each type to files and reads it again.
func TestTypesThroughFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		typ    string
		values []string
	}{
		{"TIMESTAMPTZ", []string{"'2020-03-08 07:00:00.000001+00'", "null", "'0044-03-15 12:00+00 BC'", "'1969-12-31 23:59:59.999999+00'", "'infinity'", "'-infinity'"}},
		{"DATE", []string{"'infinity'", "null", "'-infinity'", "'2020-02-29'", "'5874897-12-31'"}},
		{"TIMESTAMP", []string{"'infinity'", "null", "'-infinity'", "'2020-02-29 12:34:56.789'", "'4713-01-01 00:00 BC'"}},
		{"DATE[]", []string{"'{infinity,NULL,-infinity}'", "null", "'{}'", "'{2020-02-29}'"}},
		{"TIME", []string{"'00:00'", "null", "'24:00'", "'12:34:56.789'"}},
		{"TIMETZ", []string{"'00:00+15:59'", "null", "'24:00-03:30'", "'12:34:56.789+00'"}},
		{"TIMETZ[]", []string{"'{00:00+02,NULL}'", "null", "'{}'", "'{12:00-08}'"}},
		{"TINYINT", []string{"-128", "null", "127", "0"}},
		{"UTINYINT", []string{"0", "null", "255", "128"}},
		{"USMALLINT", []string{"0", "null", "65535", "32768"}},
		{"UINTEGER", []string{"0", "null", "4294967295", "2147483648"}},
		{"UBIGINT", []string{"0", "null", "18446744073709551615", "9223372036854775808"}},
		{"UBIGINT[]", []string{"'{0,18446744073709551615,NULL}'", "null", "'{}'", "'{9223372036854775808}'"}},
		{"UINTEGER[]", []string{"'{0,4294967295,NULL}'", "null", "'{}'", "'{2147483648}'"}},
		{"UUID", []string{"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "null", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"}},
		{"BYTEA", []string{`'\x00ff80'`, "null", "''", `'abc,"d'`, `'\x0a0d'`}},
		{"JSON", []string{`'{"a": [1, "x,y", null]}'`, "null", "'[]'", "'\"é\"'"}},
		{"INTEGER[]", []string{"'{1,2,NULL}'", "null", "'{}'", "'{-2147483648}'", "'{NULL}'"}},
		{"VARCHAR[]", []string{`'{a,"b c","",NULL,"NULL","x,y","q\"r\\s"}'`, "null", "'{}'", "'{日本,é}'"}},
		{"DECIMAL(20,3)[][]", []string{"'{{1.5,NULL},NULL,{}}'", "null", "'{}'", "'{{-99999999999999999.999}}'"}},
	} {
		s := New(NewDB())
		rowsOf(t, s, "CREATE TABLE t (n INTEGER, x "+c.typ+")")
		for i, v := range c.values {
			rowsOf(t, s, "INSERT INTO t VALUES ("+string(rune('0'+i))+", "+v+")")
		}
		want := rowsOf(t, s, "SELECT n, x FROM t ORDER BY n")
		exts := []string{"csv", "json", "parquet"}
		if strings.Contains(c.typ, "INT") || strings.Contains(c.typ, "DATE") || strings.Contains(c.typ, "TIMESTAMP") || strings.Contains(c.typ, "TIMETZ") {
			exts = append(exts, "arrow")
		}
		for _, ext := range exts {
			path := filepath.Join(dir, strings.NewReplacer("(", "", ")", "", ",", "", "[]", "l").Replace(c.typ)+"."+ext)
			rowsOf(t, s, "COPY t TO '"+path+"'")
			rowsOf(t, s, "CREATE TABLE u (n INTEGER, x "+c.typ+")")
			rowsOf(t, s, "COPY u FROM '"+path+"'")
			if got := rowsOf(t, s, "SELECT n, x FROM u ORDER BY n"); got != want {
				t.Errorf("%s through %s:\n%swant\n%s", c.typ, ext, got, want)
			}
			if got := rowsOf(t, s, "SELECT count(*), count(t.x) FROM t JOIN u ON t.x::text IS NOT DISTINCT FROM u.x::text"); !strings.HasPrefix(got, string(rune('0'+len(c.values)))) {
				t.Errorf("%s through %s: other values: %s", c.typ, ext, got)
			}
			rowsOf(t, s, "DROP TABLE u")
			if ext == "parquet" || ext == "arrow" { // which have types
				if got := rowsOf(t, s, "SELECT n, x FROM '"+path+"' ORDER BY n"); got != want {
					t.Errorf("%s from %s:\n%swant\n%s", c.typ, ext, got, want)
				}
				types := strings.Replace(rowsOf(t, s, "SELECT typeof(x) FROM t LIMIT 1"), "TIME WITH TIME ZONE", "VARCHAR", 1) // of which files have none
				if got := rowsOf(t, s, "SELECT typeof(x) FROM '"+path+"' LIMIT 1"); got != types {
					t.Errorf("%s from %s is a %s", c.typ, ext, got)
				}
			}
		}
	}
}
