package gen

import (
	"fmt"
	"io/fs"
)

// Query is one query of a benchmark.
type Query struct {
	Name string // q1, q2.3
	SQL  string
}

// ReadQueries reads queries/NAME.sql of each name, in that order. The files are embedded in the
// program, so that one that is missing is a mistake in the program.
func ReadQueries(files fs.FS, names ...string) []Query {
	out := make([]Query, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, "queries/"+name+".sql")
		if err != nil {
			panic(fmt.Sprintf("gen: %v", err))
		}
		out[i] = Query{name, string(text)}
	}
	return out
}
