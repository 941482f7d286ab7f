package session

import (
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// describe lists columns as a result.
func describe(b *bind.Describe, t Timing) *Result {
	var rows [][]types.Value
	for i, n := range b.Names {
		null := "YES"
		if b.NotNull[i] {
			null = "NO"
		}
		kind := b.Types[i].String()
		if b.Foreign[i] != "" {
			kind = b.Foreign[i] + " (cannot be read)"
		}
		rows = append(rows, []types.Value{types.TextValue(n), types.TextValue(kind), types.TextValue(null)})
	}
	return literal([]string{"column_name", "column_type", "null"}, []types.Type{types.TText, types.TText, types.TText}, rows, t)
}
