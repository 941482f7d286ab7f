// Package catalog holds tables and views by name, each table's rows as immutable
// segments, and their statistics.
//
// In: sealed segments of columns. Out: Snapshots, which a query holds while it
// runs. Writers publish a new snapshot at once and never change an old one, so readers need
// no lock. Read table.go first, then append.go for how rows get in.
package catalog
