// Package catalog holds tables and views by name, each table's rows as immutable
// segments, and their statistics.
//
// In: sealed segments of columns. Out: Snapshots, which a query holds while it
// runs. Writers work on forks of tables in a transaction and publish them at once, never changing
// what was there, so readers need no lock. Read table.go first, then append.go for how rows get
// in, and tx.go for when others see them.
package catalog
