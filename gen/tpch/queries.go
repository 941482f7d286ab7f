package tpch

import (
	"embed"
	"fmt"

	"github.com/kelpiedb/kelpie/gen"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// Queries are the 22 queries, q1 to q22, with the validation parameters of the specification.
func Queries() []gen.Query {
	names := make([]string, 22)
	for i := range names {
		names[i] = fmt.Sprintf("q%d", i+1)
	}
	return gen.ReadQueries(queryFiles, names...)
}
