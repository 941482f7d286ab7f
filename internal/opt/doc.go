// Package opt turns the plan that a front end bound into the plan that is executed: it unnests
// subqueries, moves predicates, orders joins by estimated cost and prepares aggregates.
//
// In: a plan.Query with subqueries and dependent joins, predicates where they were written. Out: the
// same query, rewritten in place. Passes are data: read opt.go, where the list says what each needs
// of those before it; then each pass has its file, and testdata/<pass>.txt shows what it does.
// plan.CheckFinal verifies what later stages may rely on:
//
//   - There is no Subquery, no dependent join, no DISTINCT aggregate, no Avg, Stddev or Var.
//   - Equalities between the sides of a join are in LKeys and RKeys, of one type (length limits of
//     texts apart); On holds only other conditions. Each key refers to its own side; the left key
//     of a mark join may be a constant.
//   - The right side of a join is hashed, unless BuildLeft says otherwise (Inner, Semi, Anti, Left, Full).
//     A join without keys has a small right side: a single row, or a cross product that the query
//     asks for.
//   - A mark join with exactly one key, not NULL-safe, and no On gives NULL as IN does: when nothing
//     matches and the left key is NULL (and the right side is not empty) or the right side has a NULL.
//     Any other mark join gives only true or false; so does, by Col.NotNull, one without NULLs.
//   - Gate: a semi join whose left side is not evaluated unless its right side has a row.
//   - AtMostOne: a left row has at most one match, because the right keys are unique.
//   - Operations on NULL operands must not fail: sum / count of an empty group is NULL / 0.
//   - A group key that is a plain column may keep the column's name; so may any_value of one.
//   - Scans produce the columns that are read above and those of their own Filter and Reduce.
//     Reducers never form a circle: every hash table can be built before the scans that it reduces.
//   - Shared plans read only shared plans that come before them.
//   - Col.NotNull holds wherever the column is visible, below and above outer joins.
//   - Every operator has estimated rows, at least 1, and a number in the order of printing.
//   - Conjuncts stand in the order in which they should be tested; those that can fail come after others
//     of the same operator.
package opt
