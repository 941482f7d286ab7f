// Package layout says where bytes lie: materialized tuples, hash tables and the
// context block, as both Go and generated code see them.
//
// In: what is known of the values (Desc). Out: offsets. Nothing here allocates or
// emits; exec does the first, emit the second. Read form.go, then tuple.go.
package layout
