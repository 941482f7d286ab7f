package types

import (
	"math"
	"strings"
)

// Dates and timestamps that are after or before all others. They are the numbers that DuckDB has for them, in files and in
// Arrow: whatever orders, hashes, stores or moves days and microseconds needs to know nothing of them. What
// computes does: they stay what they are, or are NULL, or an error.
const (
	InfiniteDate      = math.MaxInt32
	InfiniteTimestamp = math.MaxInt64
)

var (
	errInfiniteDates = errf(codeDateOverflow, "cannot subtract infinite dates")
	// ErrInfiniteTimestamps is that of a difference.
	ErrInfiniteTimestamps = errf(codeDateOverflow, "cannot subtract infinite timestamps")
)

// IsInfiniteDate and IsInfiniteTimestamp tell them from others.
func IsInfiniteDate(days int64) bool { return days == InfiniteDate || days == -InfiniteDate }

func IsInfiniteTimestamp(ts int64) bool { return ts == InfiniteTimestamp || ts == -InfiniteTimestamp }

// IsInfinite reports an infinite date or timestamp.
func (v Value) IsInfinite() bool {
	switch {
	case v.Null:
		return false
	case v.Type.Kind == Date:
		return IsInfiniteDate(v.I)
	}
	return v.Type.IsCalendar() && IsInfiniteTimestamp(v.I)
}

// infiniteAs is an infinite value as one of another calendar type.
func infiniteAs(v Value, to Type) Value {
	out := int64(InfiniteTimestamp)
	if to.Kind == Date {
		out = InfiniteDate
	}
	if v.I < 0 {
		out = -out
	}
	return IntValue(to, out)
}

// parseInfinite reads infinity and -infinity, in any case; the sign of a value that is there is returned.
func parseInfinite(s string) int64 {
	s = trimSpace(s)
	sign := int64(1)
	if strings.HasPrefix(s, "-") {
		s, sign = trimSpace(s[1:]), -1
	}
	if !strings.EqualFold(s, "infinity") {
		return 0
	}
	return sign
}

func appendInfinite(dst []byte, x int64) []byte {
	if x < 0 {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

// AddDays is date + integer.
func AddDays(days, n int64) (int64, error) {
	if IsInfiniteDate(days) {
		return days, nil
	}
	if n > math.MaxUint32 || n < -math.MaxUint32 || !DateInRange(days+n) {
		return 0, ErrOutOfRange(TDate)
	}
	return days + n, nil
}

// SubDates is date - date, in days.
func SubDates(a, b int64) (int64, error) {
	if IsInfiniteDate(a) || IsInfiniteDate(b) {
		return 0, errInfiniteDates
	}
	return a - b, nil
}
