package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

// describe is \d: columns of a table, or all tables and views.
func (r *runner) describe(ctx context.Context, name string) error {
	if name == "" {
		return r.list(ctx, "", "")
	}
	return r.statement(ctx, item{text: "DESCRIBE " + name})
}

// listing is a command that lists relations of a kind.
func listing(kind string) func(*runner, context.Context, string) error {
	return func(r *runner, ctx context.Context, pattern string) error { return r.list(ctx, kind, pattern) }
}

// list prints the catalog through SQL, so that it looks as every other table does.
func (r *runner) list(ctx context.Context, kind, pattern string) error {
	var rows []string
	for _, t := range r.session.Tables() {
		is, sizes := "table", fmt.Sprintf("%d, %s", t.Rows, kelpie.QuoteString(humanBytes(t.Bytes)))
		if t.View {
			is, sizes = "view", "null, null"
		}
		if (kind == "" || kind == is) && matches(pattern, t.Name) {
			name := t.Name
			if t.Schema != "" {
				name = t.Qualified()
			}
			rows = append(rows, fmt.Sprintf("(%s, '%s', %d, %s)", kelpie.QuoteString(name), is, len(t.Columns), sizes))
		}
	}
	if len(rows) == 0 {
		none := "There are no " + strings.TrimSuffix(kind, "s") + "s"
		if kind == "" {
			none = "There are no tables"
		}
		switch {
		case pattern != "":
			none += " like " + pattern + "."
		case strings.HasPrefix(kind, "view"):
			none += " yet."
		default:
			none += " yet. CALL tpch(sf => 0.1); makes some."
		}
		_, err := fmt.Fprintln(r.output, none)
		return err
	}
	return r.show(ctx, "select * from (values "+strings.Join(rows, ", ")+") as t(name, kind, columns, rows, size)")
}

// show prints rows for a person to read, in whatever format results are.
func (r *runner) show(ctx context.Context, sql string) error {
	res, err := r.session.Query(ctx, sql)
	if err != nil {
		return err
	}
	o := r.options
	o.Expanded, o.Null = false, ""
	if !render.ForPeople(o) {
		o.Format = "table"
	}
	if r.output.size != nil {
		o.Width, _ = r.output.size()
	}
	return render.NewWriter(r.output).Write(ctx, res, o)
}

// functions lists functions, with their examples; without a pattern, one line for each name.
func (r *runner) functions(ctx context.Context, pattern string) error {
	var rows []string
	last := ""
	for _, f := range kelpie.Functions() {
		if !matches(pattern, f.Name) || pattern == "" && f.Name == last {
			continue
		}
		last = f.Name
		var cells []string
		for _, c := range []string{f.Signature, f.Result, f.Group, f.Example} {
			cells = append(cells, kelpie.QuoteString(c))
		}
		rows = append(rows, "("+strings.Join(cells, ", ")+")")
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(r.output, "There is no function like %s.\n", pattern)
		return err
	}
	return r.show(ctx, "select * from (values "+strings.Join(rows, ", ")+") as t(function, result, \"group\", example)")
}

// matches reports a name that a pattern of * and ? fits, in any case; none fits all.
func matches(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(unquoted(pattern)), strings.ToLower(name))
	return pattern == "" || ok && err == nil
}

func (r *runner) databases(ctx context.Context, _ string) error {
	var bytes int64
	tables := r.session.Tables()
	for _, t := range tables {
		bytes += t.Bytes
	}
	return r.show(ctx, fmt.Sprintf("select 'kelpie' as name, %d as tables, %s as size, 'in memory, of this process' as place", len(tables), kelpie.QuoteString(humanBytes(bytes))))
}

// schema prints the statements that make tables and views.
func (r *runner) schema(ctx context.Context, pattern string) error {
	types, err := r.enumTypes(ctx, pattern)
	if err != nil {
		return err
	}
	for _, t := range types {
		if _, err := fmt.Fprintf(r.output, "CREATE TYPE %s AS ENUM (%s);\n", t[0], t[1]); err != nil {
			return err
		}
	}
	for _, t := range r.session.Tables() {
		if !matches(pattern, t.Name) {
			continue
		}
		if _, err := fmt.Fprintln(r.output, t.SQL+";"); err != nil {
			return err
		}
	}
	return nil
}

// enumTypes are the names of enums, as SQL writes them, and their labels.
func (r *runner) enumTypes(ctx context.Context, pattern string) (out [][2]string, err error) {
	res, err := r.session.Query(ctx, `select t.typname, case when n.nspname <> 'public' then quote_ident(n.nspname) || '.' else '' end || quote_ident(t.typname),
		coalesce(string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder), '')
		from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_enum e on e.enumtypid = t.oid where t.typtype = 'e'
		group by n.nspname, t.typname order by 2`)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	for res.Next() {
		var plain, name, labels string
		if err := res.Scan(&plain, &name, &labels); err != nil {
			return nil, err
		}
		if matches(pattern, plain) {
			out = append(out, [2]string{name, labels})
		}
	}
	return out, res.Err()
}

// enums lists enums.
func (r *runner) enums(ctx context.Context, pattern string) error {
	types, err := r.enumTypes(ctx, pattern)
	if err != nil {
		return err
	}
	if len(types) == 0 {
		none := "There are no enums yet. CREATE TYPE … AS ENUM (…); makes one."
		if pattern != "" {
			none = "There are no enums like " + pattern + "."
		}
		_, err := fmt.Fprintln(r.output, none)
		return err
	}
	var rows []string
	for _, t := range types {
		rows = append(rows, fmt.Sprintf("(%s, %s)", kelpie.QuoteString(t[0]), kelpie.QuoteString(t[1])))
	}
	return r.show(ctx, "select * from (values "+strings.Join(rows, ", ")+") as t(name, labels)")
}

func humanBytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
