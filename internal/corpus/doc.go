// Package corpus reads files of SQL statements with the answers that they must give, in the manner
// of sqllogictest. Two tests run them: TestCorpus of internal/session holds Kelpie to the answers under many
// configurations, and TestCorpusPostgres of bench holds the answers to PostgreSQL.
//
// A file has records, with empty lines between them; a line that begins with # is a comment. A record is
//
//	statement ok
//	insert into t values (1);
//
//	statement error 22012
//	select 1/0;
//
//	query
//	select a, s from t order by a;
//	----
//	1|x
//	NULL|(empty)
//
// Each file begins in an empty database, and its records run one after the other in one session. Cells are
// separated by |. NULL is NULL and an empty text (empty); in texts a backslash is \\, a bar \x7c, and control characters
// and spaces at either end are written as \n, \t, \r or \xNN. A text that reads NULL or (empty) begins
// with \x4e or \x28.
//
// After query may stand:
//
//	rowsort  the order of rows does not count
//	rounded  decimals and PostgreSQL's are roundings of one number, each at its own scale: for
//	         quotients and averages, of which it shows other digits
//
// Before a record may stand lines that say where it does not run, and why:
//
//	nopg REASON    PostgreSQL is not asked: the statement, or its answer, is our own
//	planned REASON it is not run with all passes of the optimizer off: it would not end
package corpus
