package ssb

import (
	"embed"

	"github.com/kelpiedb/kelpie/gen"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// Queries are the 13 queries in four flights, q1.1 to q4.3.
func Queries() []gen.Query {
	return gen.ReadQueries(queryFiles, "q1.1", "q1.2", "q1.3", "q2.1", "q2.2", "q2.3",
		"q3.1", "q3.2", "q3.3", "q3.4", "q4.1", "q4.2", "q4.3")
}
