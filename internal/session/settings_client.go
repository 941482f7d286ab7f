package session

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// client is settings of PostgreSQL that its clients make on connecting.
type client struct {
	timeout   time.Duration // of a statement; 0: none
	messages  string        // the least severe ones that results carry
	isolation string        // of transactions that do not say it
	readOnly  bool          // likewise
	name      string        // of the application
	floats    string        // extra digits
	path      string        // schemas
	zone      *types.Zone   // of calendars and clocks
	// own are settings that only the client knows, such as my.user.
	own map[string]string
}

const serializable = "serializable"

var defaultClient = client{messages: "notice", isolation: "repeatable read", floats: "1", path: `"$user", public`, zone: types.UTC}

// clientSettings are those of PostgreSQL that we know. Of a setting that would change what queries give,
// only the values are accepted that describe what they give anyway.
var clientSettings = []setting{
	{"application_name", "the name of the client, for itself",
		func(s *Settings) string { return s.client.name },
		func(s *Settings, v types.Value) error { s.client.name = v.String(); return nil }},
	oneMeaning("client_encoding", "the encoding of texts: UTF8", "UTF8", func(v string) bool {
		return slices.Contains([]string{"utf8", "unicode"}, strings.NewReplacer("-", "", "_", "").Replace(v))
	}),
	{"client_min_messages", "which messages results carry: notice, warning or error",
		func(s *Settings) string { return s.client.messages },
		func(s *Settings, v types.Value) error { return oneOf(&s.client.messages, v, messageLevels) }},
	oneMeaning("datestyle", "how dates are written: ISO", "ISO, MDY", func(v string) bool {
		style, order, two := strings.Cut(v, ",")
		return style == "iso" && (!two || slices.Contains([]string{"mdy", "dmy", "ymd"}, strings.TrimSpace(order)))
	}),
	{"default_transaction_isolation", "of transactions that do not say it; each level is at least that of snapshots",
		func(s *Settings) string { return s.client.isolation },
		func(s *Settings, v types.Value) error {
			return oneOf(&s.client.isolation, v, []string{serializable, "repeatable read", "read committed", "read uncommitted"})
		}},
	{"default_transaction_read_only", "whether transactions that do not say it may change nothing",
		func(s *Settings) string { return onOff(s.client.readOnly) },
		func(s *Settings, v types.Value) (err error) { s.client.readOnly, err = boolOf(v); return }},
	{"extra_float_digits", "digits of floating-point numbers: 1 to 3, which are the shortest that are exact",
		func(s *Settings) string { return s.client.floats },
		func(s *Settings, v types.Value) error { return s.client.setFloats(v) }},
	oneMeaning("intervalstyle", "how intervals are written: postgres", "postgres", func(v string) bool { return v == "postgres" }),
	{"search_path", "schemas where names without one are looked for; new tables are made in the first",
		func(s *Settings) string { return s.client.path },
		func(s *Settings, v types.Value) error { s.client.path = v.String(); return nil }},
	oneMeaning("server_encoding", "the encoding of texts: UTF8", "UTF8", func(v string) bool { return v == "utf8" }),
	oneMeaning("server_version", "the version of PostgreSQL whose answers are given", "15.0", func(v string) bool { return v == "15.0" }),
	oneMeaning("server_version_num", "the same as a number", "150000", func(v string) bool { return v == "150000" }),
	oneMeaning("standard_conforming_strings", "backslashes in plain strings are backslashes: on", "on", func(v string) bool {
		return slices.Contains([]string{"on", "true", "yes", "1"}, v)
	}),
	{"statement_timeout", "how long a statement may take, such as '5s'; 0 is no limit",
		func(s *Settings) string { return formatTimeout(s.client.timeout) },
		func(s *Settings, v types.Value) (err error) { s.client.timeout, err = parseTimeout(v); return }},
	{"timezone", "the time zone in which timestamps with time zone are read, shown and taken apart",
		func(s *Settings) string { return s.client.zone.Name },
		func(s *Settings, v types.Value) (err error) { s.client.zone, err = zoneOf(v); return }},
}

// zoneOf is the zone that a value of the setting names: hours ahead of UTC, or as AT TIME ZONE has it.
func zoneOf(v types.Value) (*types.Zone, error) {
	text := strings.TrimSpace(v.String())
	switch strings.ToLower(text) {
	case "default", "local":
		return types.UTC, nil
	}
	if hours, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(hours) < 168 {
		if hours == 0 {
			return types.UTC, nil
		}
		return types.FixedZone(int(hours * 3600)), nil
	}
	z, err := types.SessionZone(text)
	if err != nil {
		return nil, errors.New("there is no such time zone")
	}
	return z, nil
}

// oneMeaning is a setting with one meaning: values for which ok, which sees them in lower case, is false
// would ask for another, and are refused.
func oneMeaning(name, doc, value string, ok func(string) bool) setting {
	return setting{name, doc,
		func(*Settings) string { return value },
		func(_ *Settings, v types.Value) error {
			if !ok(strings.ToLower(strings.TrimSpace(v.String()))) {
				return diag.Unsupported(diag.NoPos, "the value %q of parameter %q", v.String(), name).WithHint("it is always %s", value)
			}
			return nil
		}}
}

// oneOf sets a setting that is one of some words.
func oneOf(to *string, v types.Value, words []string) error {
	w := strings.ToLower(v.String())
	if !slices.Contains(words, w) {
		return fmt.Errorf("%q is none of %s", v.String(), strings.Join(words, ", "))
	}
	*to = w
	return nil
}

func (c *client) setFloats(v types.Value) error {
	n, err := intOf(v, -15, 3)
	switch {
	case err != nil:
		return err
	case n < 1:
		return diag.Unsupported(diag.NoPos, "rounding floating-point numbers to fewer digits").WithHint("use round()")
	}
	c.floats = strconv.Itoa(n)
	return nil
}

// messageLevels are PostgreSQL's, from the least severe. We have notices and warnings.
var messageLevels = []string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"}

// timeUnits are those of a timeout, in milliseconds, the largest first.
var timeUnits = []timeUnit{{"d", 86400e3}, {"h", 3600e3}, {"min", 60e3}, {"s", 1e3}, {"ms", 1}, {"us", 1e-3}}

type timeUnit struct {
	name string
	ms   float64
}

// parseTimeout reads a time as PostgreSQL does: milliseconds, or a number with a unit, rounded to milliseconds.
func parseTimeout(v types.Value) (time.Duration, error) {
	text := strings.TrimSpace(v.String())
	end := strings.LastIndexAny(text, "0123456789.") + 1
	num, unit := text[:end], strings.TrimSpace(text[end:])
	scale := 1.0
	if unit != "" {
		i := slices.IndexFunc(timeUnits, func(u timeUnit) bool { return u.name == unit })
		if i < 0 {
			return 0, fmt.Errorf("%q is not a time; the units are us, ms, s, min, h and d", text)
		}
		scale = timeUnits[i].ms
	}
	f, err := strconv.ParseFloat(num, 64)
	ms := math.RoundToEven(f * scale)
	switch {
	case err != nil || math.IsNaN(f):
		return 0, fmt.Errorf("%q is not a time; the units are us, ms, s, min, h and d", text)
	case ms < 0 || ms > math.MaxInt32:
		return 0, fmt.Errorf("%s is outside the valid range (0 .. %d ms)", text, math.MaxInt32)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// formatTimeout writes a time in the largest unit that it is a whole number of.
func formatTimeout(d time.Duration) string {
	ms := d.Milliseconds()
	for _, u := range timeUnits {
		if n := int64(u.ms); ms > 0 && n > 0 && ms%n == 0 {
			return strconv.FormatInt(ms/n, 10) + u.name
		}
	}
	return "0"
}
