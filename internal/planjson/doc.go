// Package planjson writes plans as JSON documents and reads them: operators, columns, expressions, and where the result of an operator is
// kept instead of going on into the next one.
//
// In: a plan.Query, or a document. Out: the other. Mistakes in a document are told with their JSON path.
//
// A document is what the optimizer made, so whoever runs one leaves the optimizer's choices (join order, build sides, where predicates are
// tested) alone, unless the document asks for them; lowering, estimates and nullability are made anew. Columns have names that are unique
// in the document; those that Write gives end in # and a number.
package planjson
