// Package bind gives SQL its meaning: it resolves the names of a syntax tree
// against the catalog, gives every expression a type, and returns a plan.Query (or, for
// statements that are not queries, a plain struct for the session).
//
// In: an ast.Statement, an Env that knows the tables, and parameter values. Out: a plan in
// which casts are explicit, names are ColIDs and correlated references are plain
// references to the outer column; subqueries in expressions stay plan.Subquery for the
// optimizer to unnest. Mistakes are *diag.Error with SQLSTATE, position and hint; inside
// the package they travel by panic and are caught at the door.
//
// Read bind.go (the doors), then scope.go (who sees which names), select.go (the
// order in which a SELECT's clauses are bound) and expr.go (the switch over expressions).
// coerce.go and compare.go hold the typing rules, func_table.go has one row per function,
// group.go explains how grouped queries are checked.
package bind
