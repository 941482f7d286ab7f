package types

import (
	"encoding/binary"
	"strings"
	"time"
)

// posixZone reads a zone as POSIX and PostgreSQL write it, such as EST5EDT4,M3.2.0,M11.1.0: a name, how far clocks are west of
// Greenwich, and, where they are put forward in summer, another name, the distance then (an hour less than the first, if none is given), and
// when that begins and ends (as in the United States). A name may have anything but digits, commas and signs in it, or stand in
// angle brackets; the first one may be empty. A name without a distance is no zone: nil.
func posixZone(spec string) *Zone {
	r := posixReader{rest: spec, ok: true}
	r.name()
	standard := r.offset()
	if !r.ok {
		return nil
	}
	if r.rest == "" {
		return &Zone{Name: spec, loc: time.FixedZone(spec, -standard)}
	}
	if !r.name() {
		return nil
	}
	summer := standard - 3600
	if r.rest != "" && r.rest[0] != ',' {
		summer = r.offset()
	}
	if r.rest == "" {
		r.rest = ",M3.2.0,M11.1.0"
	}
	rules := r.rest
	r.rule()
	r.rule()
	if !r.ok || r.rest != "" {
		return nil
	}
	loc, err := time.LoadLocationFromTZData(spec, zoneData(standard, summer, rules))
	if err != nil {
		return nil
	}
	return &Zone{Name: spec, loc: loc}
}

// posixReader reads the parts of a zone off a text; ok is false once one is not there.
type posixReader struct {
	rest string
	ok   bool
}

// name reads a name and reports whether there is one.
func (r *posixReader) name() bool {
	if inner, quoted := strings.CutPrefix(r.rest, "<"); quoted {
		name, rest, closed := strings.Cut(inner, ">")
		r.rest, r.ok = rest, r.ok && closed
		return name != ""
	}
	end := strings.IndexAny(r.rest, "0123456789,+-")
	if end < 0 {
		end = len(r.rest)
	}
	r.rest = r.rest[end:]
	return end > 0
}

// number reads digits that are a number from lo to hi.
func (r *posixReader) number(lo, hi int) int {
	n, digits := 0, 0
	for digits < len(r.rest) && r.rest[digits] >= '0' && r.rest[digits] <= '9' && n <= hi {
		n = n*10 + int(r.rest[digits]-'0')
		digits++
	}
	r.rest, r.ok = r.rest[digits:], r.ok && digits > 0 && n >= lo && n <= hi
	return n
}

// skip reads a byte if it is the next one.
func (r *posixReader) skip(c byte) bool {
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// offset reads [±]hours[:minutes[:seconds]], as seconds.
func (r *posixReader) offset() int {
	sign := 1
	if r.skip('-') {
		sign = -1
	} else {
		r.skip('+')
	}
	secs := 3600 * r.number(0, 167)
	if r.skip(':') {
		secs += 60 * r.number(0, 59)
		if r.skip(':') {
			secs += r.number(0, 60)
		}
	}
	return sign * secs
}

// rule reads when clocks are changed: ,M3.2.0 (the second Sunday in March), ,J60 (without leap days) or ,59 (with them), and /hour if it
// is not at two.
func (r *posixReader) rule() {
	r.ok = r.skip(',') && r.ok
	switch {
	case r.skip('M'):
		r.number(1, 12)
		r.ok = r.skip('.') && r.ok
		r.number(1, 5)
		r.ok = r.skip('.') && r.ok
		r.number(0, 6)
	case r.skip('J'):
		r.number(1, 365)
	default:
		r.number(0, 365)
	}
	if r.skip('/') {
		r.offset()
	}
}

// zoneData is a zone as a file of the zone database, in which Go's reader finds the rules at the end. They hold after the
// last change in the file, which must have one: before everything else.
func zoneData(standard, summer int, rules string) []byte {
	header := func(b []byte, changes, zones uint32) []byte {
		b = append(b, "TZif2"...)
		b = append(b, make([]byte, 15)...)
		for _, count := range []uint32{0, 0, 0, changes, zones, 4 * zones} {
			b = binary.BigEndian.AppendUint32(b, count)
		}
		return b
	}
	b := header(nil, 0, 0) // times of 32 bits, which nobody reads
	b = header(b, 1, 1)
	b = binary.BigEndian.AppendUint64(b, 1<<63) // the change: at the beginning of time, to zone 0
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(int32(-standard)))
	b = append(b, 0, 0)
	b = append(b, "STD\x00"...)
	b = append(b, "\n<STD>"...)
	b = appendOffset(b, standard)
	b = append(b, "<DST>"...)
	b = appendOffset(b, summer)
	return append(append(b, rules...), '\n')
}
