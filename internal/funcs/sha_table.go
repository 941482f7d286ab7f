package funcs

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/types"
)

// shaRows are the hashes of the SHA-2 family: of bytes they are bytes, as PostgreSQL has them, and of texts the digits that
// DuckDB shows. A literal is bytes.
var shaRows = func() []Row {
	var rows []Row
	for _, h := range []struct {
		name, example string
		sum           func(b []byte) []byte
	}{
		{"sha224", "23097d22", func(b []byte) []byte { h := sha256.Sum224(b); return h[:] }},
		{"sha256", "ba7816bf", func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }},
		{"sha384", "cb00753f", func(b []byte) []byte { h := sha512.Sum384(b); return h[:] }},
		{"sha512", "ddaf35a1", func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }},
	} {
		rows = append(rows,
			fn(h.name, "B", tBytes, fmt.Sprintf("left(encode(%s('abc'), 'hex'), 8) → %s", h.name, h.example), func(a []types.Value, _ types.Type) (types.Value, error) {
				return bytesValue(h.sum([]byte(a[0].S)))
			}),
			fn(h.name, "W", tText, fmt.Sprintf("left(%s('abc'::text), 8) → %s", h.name, h.example), func(a []types.Value, _ types.Type) (types.Value, error) {
				return text(hex.EncodeToString(h.sum([]byte(a[0].S))))
			}))
	}
	return rows
}()
