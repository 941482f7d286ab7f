package plan

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// formatValue prints a literal as SQL would write it. It stands here, rather than
// using a result formatter, so that plans look the same whatever the session's output format is.
func formatValue(v types.Value) string {
	if v.Null {
		return "null"
	}
	switch v.Type.Kind {
	case types.Bool:
		return strconv.FormatBool(v.I != 0)
	case types.Decimal:
		return formatDecimal(v)
	case types.Float32:
		return strconv.FormatFloat(v.F, 'g', -1, 32) + "f"
	case types.Float64:
		return strconv.FormatFloat(v.F, 'g', -1, 64) + "d"
	case types.Date, types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ, types.Bytes, types.UUID, types.List, types.JSON, types.Struct, types.Map, types.Enum:
		return "'" + v.String() + "'"
	case types.Interval:
		m, d, us := v.IntervalParts()
		return "interval '" + strconv.Itoa(int(m)) + " mons " + strconv.Itoa(int(d)) + " days " + strconv.FormatInt(us, 10) + " us'"
	case types.Text:
		return "'" + strings.ReplaceAll(v.S, "'", "''") + "'"
	}
	return strconv.FormatInt(v.I, 10)
}

func formatDecimal(v types.Value) string {
	x := v.Int128()
	n := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	n.Add(n, new(big.Int).SetUint64(x.Lo))
	digits := new(big.Int).Abs(n).String()
	s := int(v.Type.Scale)
	if len(digits) <= s {
		digits = strings.Repeat("0", s-len(digits)+1) + digits
	}
	if s > 0 {
		digits = digits[:len(digits)-s] + "." + digits[len(digits)-s:]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}
