package types

import "strings"

// Words that stand for times: now, today, tomorrow, yesterday, epoch and allballs. What they mean depends on when and where
// somebody reads them, so that only ParseAt knows them; texts in files are not taken for dates because of them.

// ParseAt is ParseIn where words may stand for times, as they are at the instant now.
func ParseAt(z *Zone, now int64, t Type, text string) (Value, error) {
	v, err := ParseIn(z, t, text)
	if err == nil || !HoldsMoments(t) {
		return v, err
	}
	reading := &Zone{Name: z.Name, loc: z.loc, worded: true, now: now}
	if v, worded := ParseIn(reading, t, text); worded == nil {
		return v, nil
	}
	return v, err
}

// CastAt is Cast where texts, and those in lists, are read as ParseAt does.
func CastAt(z *Zone, now int64, v Value, t Type) (Value, error) {
	switch {
	case v.Null || !HoldsMoments(t):
	case v.Type.Kind == Text || v.Type.Kind == Unknown:
		return ParseAt(z, now, t, v.S)
	case v.Type.Kind == List && t.Kind == List && spells(v.Type):
		var out []Value
		for _, x := range v.Elems() {
			y, err := CastAt(z, now, x, t.Elem())
			if err != nil {
				return Value{}, err
			}
			out = append(out, y)
		}
		return ListValue(t.Elem(), out), nil
	}
	return Cast(v, t)
}

// spells reports a text, or a list of them.
func spells(t Type) bool {
	for t.Kind == List {
		t = t.Elem()
	}
	return t.Kind == Text || t.Kind == Unknown
}

// ReadsMoments reports a cast of texts, or of lists of them, to what HoldsMoments: what CastAt computes, and Cast without words.
func ReadsMoments(from, to Type) bool { return spells(from) && HoldsMoments(to) }

// HoldsMoments reports a type of dates or times of day, or one that is made of such.
func HoldsMoments(t Type) bool {
	return t.Holds(Date) || t.Holds(Timestamp) || t.Holds(TimestampTZ) || t.Holds(Time) || t.Holds(TimeTZ)
}

// spelled is text with numbers in the place of words, in a zone that knows what time it is. A time of day alone is no epoch.
func (z *Zone) spelled(text string, dated bool) string {
	if !z.worded {
		return text
	}
	words := strings.Fields(text)
	for i, w := range words {
		w = strings.ToLower(w)
		switch w {
		case "now":
			words[i] = string(IntValue(TTimestampTZ, z.now).AppendTextIn(nil, z))
		case "epoch":
			words[i] = "1970-01-01 00:00:00+00"
		case "allballs":
			words[i] = "00:00:00+00"
			continue
		case "today", "tomorrow", "yesterday":
			today, _ := SplitTimestamp(z.now + z.OffsetAt(z.now))
			words[i] = string(AppendDate(nil, today+map[string]int64{"tomorrow": 1, "yesterday": -1}[w]))
			continue
		default:
			continue
		}
		if len(words) > 1 || w == "epoch" && !dated { // nothing is left to be said about such a time
			return text
		}
	}
	return strings.Join(words, " ")
}
