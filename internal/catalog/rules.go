package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Rules are what a table demands of its rows beyond types, NOT NULL and keys, and the names of all of that. Who stores rows
// checks them: they are texts here.
type Rules struct {
	KeyNames []string // of Table.Keys; "" for the name that PostgreSQL would give
	Primary  bool     // the first key is the primary one
	Unique   []bool   // of Table.Keys: it is an index, not a constraint; nil: none is
	Checks   []Check
	Foreign  []ForeignKey
	Indexes  []Index // that are not unique: names, no more
	// Comment is the table's, Comments those of its constraints and indexes, by their names.
	Comment  string
	Comments map[string]string
	OnCommit string // what the end of a transaction does with a temporary table: "" nothing, delete (its rows) or drop
}

// Check is a condition that no row may make false.
type Check struct{ Name, SQL string }

// ForeignKey says that each row refers to one of another table.
type ForeignKey struct {
	Name               string
	Columns            []int
	Schema, Table      string   // referred to
	Refs               []string // its columns
	OnDelete, OnUpdate Action
}

// Action is what becomes of rows when the one that they refer to is changed.
type Action uint8

const (
	NoAction Action = iota
	Restrict
	Cascade
	SetNull
	SetDefault
)

func (a Action) String() string {
	return [...]string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}[a]
}

// Index is a name for some columns.
type Index struct {
	Name    string
	Columns []string
}

// KeyName is the name of Keys[i], or that which PostgreSQL would give it: t_pkey for a primary key, t_a_b_key for another.
func (t *Table) KeyName(i int) string {
	if i < len(t.Rules.KeyNames) && t.Rules.KeyNames[i] != "" {
		return t.Rules.KeyNames[i]
	}
	return t.UsualKeyName(i)
}

// UsualKeyName is the name that PostgreSQL gives Keys[i] if nobody else does.
func (t *Table) UsualKeyName(i int) string {
	if t.IsPrimary(i) {
		return t.Name + "_pkey"
	}
	name := t.Name
	for _, c := range t.Keys[i] {
		name += "_" + t.Columns[c].Name
	}
	return name + "_key"
}

// IsPrimary reports the primary key.
func (t *Table) IsPrimary(i int) bool { return i == 0 && t.Rules.Primary }

// IsIndex reports a key that was made by CREATE UNIQUE INDEX.
func (t *Table) IsIndex(i int) bool { return i < len(t.Rules.Unique) && t.Rules.Unique[i] }

// ConstraintNames are the names of all constraints and indexes.
func (t *Table) ConstraintNames() (names []string) {
	for i := range t.Keys {
		names = append(names, t.KeyName(i))
	}
	for _, c := range t.Rules.Checks {
		names = append(names, c.Name)
	}
	for _, f := range t.Rules.Foreign {
		names = append(names, f.Name)
	}
	for _, x := range t.Rules.Indexes {
		names = append(names, x.Name)
	}
	return names
}

// FreeName is name, or, if that is taken, name1, name2 …
func FreeName(name string, taken []string) string {
	for i, free := 0, name; ; free = fmt.Sprintf("%s%d", name, i) {
		if !slices.ContainsFunc(taken, func(o string) bool { return strings.EqualFold(o, free) }) {
			return free
		}
		i++
	}
}

// Clone is a copy whose lists can be changed.
func (r Rules) Clone() Rules {
	r.KeyNames, r.Unique = slices.Clone(r.KeyNames), slices.Clone(r.Unique)
	r.Checks, r.Foreign, r.Indexes = slices.Clone(r.Checks), slices.Clone(r.Foreign), slices.Clone(r.Indexes)
	return r
}
