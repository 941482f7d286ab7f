package automaton

import "encoding/binary"

// Does is what a function does with a text and a pattern.
type Does uint8

const (
	Tests    Does = iota // whether some part of the text matches
	Takes                // the first match, or a part of it
	Replaces             // puts a text in the place of matches
	Counts               // how many matches there are
)

// Use is a function of a text whose pattern, and all else, is known.
type Use struct {
	Does Does
	// Table is nil where the Needle is all that matches.
	Table *Table
	// Needle is a text that every match contains, empty if there is none, and Before how many bytes of the match may be before it; -1: any
	// number.
	Needle string
	Before int

	// Not: the test is whether nothing matches. Like is the pattern of LIKE that asks the same, if IsLike.
	Not    bool
	Like   string
	IsLike bool

	// What is taken begins From bytes behind the beginning of the match, and ends To bytes before its end. OrNull: where nothing matches,
	// it is NULL, else an empty text.
	From, To int
	OrNull   bool

	// By is what replaces the first match, or All.
	By  string
	All bool
}

// Test is a test by a pattern in Go's syntax; nil: there is no table for it.
func Test(source string, not bool) *Use {
	p := New(source)
	if p == nil {
		return nil
	}
	u := &Use{Does: Tests, Not: not}
	u.Like, u.IsLike = p.Like()
	p = p.Searched()
	u.Needle, u.Before = p.Needle()
	if u.Table = p.Search(); u.Table == nil {
		return nil
	}
	return u
}

// find is what functions share that look for where matches are, one after the other, in time that is in proportion to the text.
func find(source string) (*Pattern, *Use) {
	p := New(source)
	if p == nil {
		return nil, nil
	}
	u := &Use{}
	if u.Table = p.Longest(); u.Table == nil || !u.Table.Prompt() {
		return nil, nil
	}
	u.Needle, u.Before = p.Needle()
	return p, u
}

// Take takes a group of the first match, 0 for all of it.
func Take(source string, group int, orNull bool) *Use {
	p, u := find(source)
	if p == nil {
		return nil
	}
	var ok bool
	if u.From, u.To, ok = p.Group(group); !ok {
		return nil
	}
	u.Does, u.OrNull = Takes, orNull
	return u
}

// Replace puts a text in the place of the first match, or of all.
func Replace(source, by string, all bool) *Use {
	p, u := find(source)
	if p == nil || u.Table.Empty() {
		return nil
	}
	u.Does, u.By, u.All = Replaces, by, all
	return u
}

// Count counts matches.
func Count(source string) *Use {
	p, u := find(source)
	if p == nil || u.Table.Empty() {
		return nil
	}
	u.Does = Counts
	return u
}

// Groups is how many groups a pattern has; -1: it is not one.
func Groups(source string) int {
	if p := New(source); p != nil {
		return p.tree.MaxCap()
	}
	return -1
}

// RowsAt is where the rows begin in Bytes.
const RowsAt = 256

// Bytes is the table as generated code reads it: classes, then rows.
func (t *Table) Bytes() string {
	b := append(make([]byte, 0, RowsAt+2*len(t.Rows)), t.Class[:]...)
	for _, s := range t.Rows {
		b = binary.LittleEndian.AppendUint16(b, s)
	}
	return string(b)
}
