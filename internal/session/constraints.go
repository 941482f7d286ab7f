package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// CHECK and FOREIGN KEY are held to by queries over the rows that a statement has stored or changed, when it has done so: if one
// of them finds a row, the statement fails, and with it what it has stored.

// internal runs a statement of our own, which sees some tables besides.
func (s *Session) internal(ctx context.Context, tx *catalog.Tx, beside map[string]*catalog.Table, sql string) (*Result, error) {
	stmts, err := Parse(sql)
	if err != nil {
		return nil, diag.Internalf("session", "%s: %v", sql, err)
	}
	e := s.env(ctx, tx)
	e.path, e.beside = []string{catalog.Main}, beside
	b, err := bind.Statement(e, stmts[0].Stmt, nil)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, tx, b, Timing{})
}

// tableOf is a table of some rows of another.
func tableOf(t *catalog.Table, segs []*catalog.Segment) (*catalog.Table, error) {
	narrow := make([]*catalog.Segment, len(segs))
	for i, s := range segs {
		narrow[i] = s.Narrow(len(t.Columns))
	}
	return t.With(nil).AppendNew(narrow)
}

// verify holds rows that a table has got to its CHECKs and foreign keys.
func (s *Session) verify(ctx context.Context, tx *catalog.Tx, t *catalog.Table, fresh []*catalog.Segment) error {
	if len(t.Rules.Checks)+len(t.Rules.Foreign) == 0 || len(fresh) == 0 {
		return nil
	}
	rows, err := tableOf(t, fresh)
	if err != nil {
		return err
	}
	if err := s.checkRows(ctx, tx, t, rows); err != nil {
		return err
	}
	for i := range t.Rules.Foreign {
		if err := s.checkReferences(ctx, tx, t, rows, &t.Rules.Foreign[i]); err != nil {
			return err
		}
	}
	return nil
}

// acceptable holds rows to NOT NULL and CHECK before it is known whether they are stored.
func (s *Session) acceptable(ctx context.Context, t *catalog.Table, segs []*catalog.Segment) error {
	if err := t.CheckNotNull(segs); err != nil || len(t.Rules.Checks) == 0 {
		return err
	}
	rows, err := tableOf(t, segs)
	if err != nil {
		return err
	}
	return s.checkRows(ctx, s.DB.Catalog.Begin(), t, rows)
}

// checkRows looks for a row that makes a CHECK false.
func (s *Session) checkRows(ctx context.Context, tx *catalog.Tx, t, rows *catalog.Table) error {
	if len(t.Rules.Checks) == 0 {
		return nil
	}
	var which, any strings.Builder
	for i, c := range t.Rules.Checks {
		fmt.Fprintf(&which, " WHEN (%s) IS FALSE THEN %d", c.SQL, i)
		if i > 0 {
			any.WriteString(" OR ")
		}
		fmt.Fprintf(&any, "(%s) IS FALSE", c.SQL)
	}
	name := ast.QuoteIdent(t.Name)
	res, err := s.internal(ctx, tx, map[string]*catalog.Table{t.Name: rows},
		fmt.Sprintf("SELECT CASE%s END, %s.* FROM %s WHERE %s LIMIT 1", which.String(), name, name, any.String()))
	if err != nil {
		return unplaced(err)
	}
	defer res.Close()
	for _, row := range res.Values() {
		var cells []string
		for _, v := range row[1:] {
			if v.Null {
				cells = append(cells, "null")
			} else {
				cells = append(cells, v.String())
			}
		}
		return diag.Errorf(diag.CheckViolation, diag.NoPos, "new row for relation %q violates check constraint %q", t.Name, t.Rules.Checks[row[0].I].Name).
			WithDetail("Failing row contains (%s).", strings.Join(cells, ", "))
	}
	return nil
}

// unplaced is an error of a statement of our own: its position says nothing to who wrote another.
func unplaced(err error) error {
	if e, ok := err.(*diag.Error); ok {
		c := *e
		c.Pos = diag.NoPos
		return &c
	}
	return err
}

// keyEquals is a.x = b.y and so on.
func keyEquals(a string, x []string, b string, y []string) string {
	var out []string
	for i := range x {
		out = append(out, fmt.Sprintf("%s.%s = %s.%s", a, ast.QuoteIdent(x[i]), b, ast.QuoteIdent(y[i])))
	}
	return strings.Join(out, " AND ")
}

// prefixed is a.x, a.y …
func prefixed(a string, names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, a+"."+ast.QuoteIdent(n))
	}
	return strings.Join(out, ", ")
}

// columnNames are the names of some columns.
func columnNames(t *catalog.Table, cols []int) (names []string) {
	for _, c := range cols {
		names = append(names, t.Columns[c].Name)
	}
	return names
}

// parentOf is the table that a foreign key refers to, as the transaction sees it now.
func parentOf(tx *catalog.Tx, f *catalog.ForeignKey) (*catalog.Table, error) {
	r, err := tx.Lookup(f.Schema, f.Table)
	if err != nil {
		return nil, err
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return nil, diag.Internalf("session", "foreign key %s refers to something else", f.Name)
	}
	return t, nil
}

// checkReferences looks for a row that refers to none.
func (s *Session) checkReferences(ctx context.Context, tx *catalog.Tx, t, rows *catalog.Table, f *catalog.ForeignKey) error {
	parent, err := parentOf(tx, f)
	if err != nil {
		return err
	}
	tx.RelyOn(parent, true)
	names := columnNames(t, f.Columns)
	var set []string
	for _, n := range names {
		set = append(set, "c."+ast.QuoteIdent(n)+" IS NOT NULL")
	}
	res, err := s.internal(ctx, tx, map[string]*catalog.Table{"stored": rows, "referred": parent},
		fmt.Sprintf("SELECT %s FROM stored c WHERE %s AND NOT EXISTS (SELECT 1 FROM referred p WHERE %s) LIMIT 1",
			prefixed("c", names), strings.Join(set, " AND "), keyEquals("p", f.Refs, "c", names)))
	if err != nil {
		return unplaced(err)
	}
	defer res.Close()
	if res.Rows == 0 {
		return nil
	}
	return diag.Errorf(diag.ForeignKeyViolation, diag.NoPos, "insert or update on table %q violates foreign key constraint %q", t.Name, f.Name).
		WithDetail("Key (%s)=(%s) is not present in table %q.", strings.Join(names, ", "), cells(res), f.Table)
}

// cells is the first row of a result as a text.
func cells(res *Result) string {
	var out []string
	for _, v := range res.Take(1)[0] {
		out = append(out, v.String())
	}
	return strings.Join(out, ", ")
}

// reference is a foreign key of a table.
type reference struct {
	child *catalog.Table
	key   *catalog.ForeignKey
}

// referencing are the foreign keys that refer to a table.
func referencing(tx *catalog.Tx, t *catalog.Table) (out []reference) {
	for _, r := range tx.Relations() {
		if child, ok := r.(*catalog.Table); ok {
			for i := range child.Rules.Foreign {
				if f := &child.Rules.Foreign[i]; strings.EqualFold(f.Table, t.Name) && catalog.SchemaName(f.Schema) == catalog.SchemaName(t.Schema) {
					out = append(out, reference{child, f})
				}
			}
		}
	}
	return out
}

// removal is rows of a table that are no more, or no more what they were.
type removal struct {
	table    *catalog.Table
	base     *catalog.Snapshot  // what they were
	edits    []catalog.Edit     // nil: all are gone
	fresh    []*catalog.Segment // what they have become
	assigned []bool
}

// followReferences does what foreign keys that refer to changed rows ask for.
func (s *Session) followReferences(ctx context.Context, tx *catalog.Tx, m *removal) error {
	refs := referencing(tx, m.table)
	if len(refs) == 0 || m.base.Rows == 0 {
		return nil
	}
	var gone, changed, by []int64
	for _, e := range m.edits {
		if e.By < 0 {
			gone = append(gone, e.Row)
		} else {
			changed, by = append(changed, e.Row), append(by, e.By)
		}
	}
	old, err := s.picked(m, m.base.Segments, gone, m.edits == nil)
	if err != nil {
		return err
	}
	for _, r := range refs {
		tx.RelyOn(r.child, false)
		if old != nil {
			if err := s.follow(ctx, tx, m, r, r.key.OnDelete, old, nil); err != nil {
				return err
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	was, err := s.picked(m, m.base.Segments, changed, false)
	if err != nil {
		return err
	}
	now, err := s.picked(m, m.fresh, by, false)
	if err != nil {
		return err
	}
	for _, r := range refs {
		if m.assigned != nil && !slices.ContainsFunc(r.key.Refs, func(n string) bool { return m.assigned[m.table.Column(n)] }) {
			continue
		}
		if err := s.follow(ctx, tx, m, r, r.key.OnUpdate, was, now); err != nil {
			return err
		}
	}
	return nil
}

// picked is a table of some rows, or of all; nil if there are none.
func (s *Session) picked(m *removal, from []*catalog.Segment, rows []int64, all bool) (*catalog.Table, error) {
	if all {
		return tableOf(m.table, from)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	segs, err := m.table.Picked(from, rows, nil)
	if err != nil {
		return nil, err
	}
	return tableOf(m.table, segs)
}

// follow does what one foreign key asks for when rows have gone, or, if now is not nil, have become others.
func (s *Session) follow(ctx context.Context, tx *catalog.Tx, m *removal, r reference, do catalog.Action, old, now *catalog.Table) error {
	names := columnNames(r.child, r.key.Columns)
	child := ast.QuoteIdent(catalog.SchemaOf(r.child)) + "." + ast.QuoteIdent(r.child.Name)
	parent, err := tx.Lookup(m.table.Schema, m.table.Name)
	if err != nil {
		return err
	}
	beside := map[string]*catalog.Table{"gone": old, "referred": parent.(*catalog.Table)}
	rows, same := "gone g", keyEquals("g", r.key.Refs, "c", names)
	if now != nil { // rows whose key is another now
		if beside["gone"], err = old.Snapshot().Numbered(); err != nil {
			return err
		}
		if beside["become"], err = now.Snapshot().Numbered(); err != nil {
			return err
		}
		rows += ", become n"
		same += fmt.Sprintf(` AND g."row number" = n."row number" AND NOT (%s)`, keyEquals("g", r.key.Refs, "n", r.key.Refs))
	}
	refers := fmt.Sprintf("EXISTS (SELECT 1 FROM %s WHERE %s)", rows, same)
	if do == catalog.NoAction { // another row may have taken the key over
		refers += fmt.Sprintf(" AND NOT EXISTS (SELECT 1 FROM referred p WHERE %s)", keyEquals("p", r.key.Refs, "c", names))
	}
	var sql string
	switch do {
	case catalog.SetNull, catalog.SetDefault:
		var set []string
		for _, n := range names {
			set = append(set, ast.QuoteIdent(n)+map[bool]string{true: " = NULL", false: " = DEFAULT"}[do == catalog.SetNull])
		}
		sql = fmt.Sprintf("UPDATE %s AS c SET %s WHERE %s", child, strings.Join(set, ", "), refers)
	case catalog.Cascade:
		if now == nil {
			sql = fmt.Sprintf("DELETE FROM %s AS c WHERE %s", child, refers)
			break
		}
		var set []string
		for i, n := range names {
			set = append(set, ast.QuoteIdent(n)+" = n."+ast.QuoteIdent(r.key.Refs[i]))
		}
		sql = fmt.Sprintf("UPDATE %s AS c SET %s FROM %s WHERE %s", child, strings.Join(set, ", "), rows, same)
	default:
		sql = fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s LIMIT 1", prefixed("c", names), child, refers)
	}
	res, err := s.internal(ctx, tx, beside, sql)
	if err != nil {
		return unplaced(err)
	}
	defer res.Close()
	if do != catalog.NoAction && do != catalog.Restrict || res.Rows == 0 {
		return nil
	}
	return diag.Errorf(diag.ForeignKeyViolation, diag.NoPos, "update or delete on table %q violates foreign key constraint %q on table %q",
		m.table.Name, r.key.Name, r.child.Name).
		WithDetail("Key (%s)=(%s) is still referenced from table %q.", strings.Join(r.key.Refs, ", "), cells(res), r.child.Name)
}
