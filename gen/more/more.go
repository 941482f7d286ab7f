// Package more is 104 queries that TPC-H and SSB do not ask, over TPC-H's tables and some others with what these
// lack: skewed keys, NULLs, doubles, timestamps, long texts, many columns. SQL alone makes those, the same in all engines
// (queries/tables.sql).
package more

import (
	"embed"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/gen"
)

//go:embed queries
var files embed.FS

// Queries are all queries, by name.
func Queries() []gen.Query {
	found, err := fs.Glob(files, "queries/*.sql")
	if err != nil {
		panic(err) // a wrong pattern
	}
	var names []string
	for _, f := range found {
		if name := strings.TrimSuffix(strings.TrimPrefix(f, "queries/"), ".sql"); name != "tables" {
			names = append(names, name)
		}
	}
	return gen.ReadQueries(files, names...)
}

var (
	scaled = regexp.MustCompile(`\{(\d+)\}`)
	makes  = regexp.MustCompile(`create table (\w+)`)
)

// Tables are the statements that make the tables which some queries read, beside TPC-H's, at a scale factor.
func Tables(sf float64, queries []gen.Query) []string {
	all := gen.ReadQueries(files, "tables")[0].SQL
	all = scaled.ReplaceAllStringFunc(all, func(m string) string { // {n} is n rows at scale factor 1
		n, _ := strconv.ParseFloat(m[1:len(m)-1], 64)
		return strconv.Itoa(int(math.Ceil(n * sf)))
	})
	return slices.DeleteFunc(strings.SplitAfter(all, ";\n"), func(sql string) bool {
		made := makes.FindStringSubmatch(sql)
		return made == nil || !slices.ContainsFunc(queries, func(q gen.Query) bool {
			return regexp.MustCompile(`\b` + made[1] + `\b`).MatchString(q.SQL)
		})
	})
}
