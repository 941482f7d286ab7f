package main

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// keepRows is how many rows of a result are kept for comparison. Of a larger one there remains
// a digest.
const keepRows = 50_000

// result is what a query gave.
type result struct {
	n      int
	rows   [][]types.Value // nil if there were too many
	digest uint64          // does not depend on the order of rows
}

func collect(e engine, sql string) (*result, error) {
	r := &result{}
	err := e.scan(sql, func(row []types.Value) {
		r.n++
		if r.n <= keepRows {
			r.rows = append(r.rows, row)
			return
		}
		for _, old := range r.rows {
			r.digest += digestRow(old)
		}
		r.rows = nil
		r.digest += digestRow(row)
	})
	return r, err
}

// same compares two results like sameRows.
func (r *result) same(o *result) (diff string, inOrder bool) {
	switch {
	case r.n != o.n:
		return fmt.Sprintf("%d rows against %d", r.n, o.n), false
	case r.n <= keepRows:
		return sameRows(r.rows, o.rows)
	case r.digest != o.digest:
		return fmt.Sprintf("the digests of %d rows", r.n), false
	}
	return "", true // as far as digests tell
}

var seed = maphash.MakeSeed()

// digestRow hashes a row such that equal values of different types, as far as sameCell allows
// them, have equal hashes. Doubles count with nine digits.
func digestRow(row []types.Value) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var buf [64]byte
	for _, v := range row {
		b := buf[:0]
		switch {
		case v.Null:
			b = append(b, 'N')
		case v.Type.IsFloat():
			b = strconv.AppendFloat(append(b, '#'), v.F, 'e', 8, 64)
		case v.Type.IsNumeric():
			b = appendNumber(append(b, '#'), v)
		case v.Type.Kind == types.Text:
			h.WriteString(v.S)
		default:
			b = strconv.AppendInt(append(b, byte(v.Type.Kind)), v.I, 10)
			b = strconv.AppendInt(append(b, ' '), v.Hi, 10)
		}
		h.Write(append(b, 0))
	}
	return h.Sum64()
}

// appendNumber writes an integer or decimal without trailing zeros of its fraction.
func appendNumber(b []byte, v types.Value) []byte {
	x, scale := v.Int128(), 0
	if v.Type.Kind == types.Decimal {
		scale = int(v.Type.Scale)
	}
	text := types.DecimalValue(types.TDecimal(38, scale), x).String()
	if scale > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return append(b, text...)
}
