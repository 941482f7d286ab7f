package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

const shellHelp = `  \d [TABLE]        tables and views, or the columns of one
  \dt               tables with their sizes
  \i FILE           run the statements of a file
  \timing [on|off]  time of each statement
  \x [on|off]       a line per value instead of a line per row
  \format [FORMAT]  table, csv, json, jsonl or markdown
  \q                leave (also Ctrl-D)
  \?                this help

  CALL tpch(sf => 0.1);   make the TPC-H tables to play with; also ssb
  SHOW ALL;               settings; SET threads = 4; changes one
  Ctrl-C                  cancels the statement that runs; Tab completes
`

// shellCommands are the words that completion offers after a backslash.
var shellCommands = []string{`\?`, `\d`, `\dt`, `\format`, `\i`, `\q`, `\timing`, `\x`}

// command runs a line that begins with a backslash.
func (s *shell) command(ctx context.Context, line string) error {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSuffix(strings.TrimSpace(arg), ";")
	switch strings.TrimSuffix(name, ";") {
	case `\q`:
		return errQuit
	case `\?`, `\h`, `\help`:
		fmt.Print(shellHelp)
	case `\d`:
		return s.describe(ctx, arg)
	case `\dt`:
		return s.listTables(ctx, false)
	case `\i`:
		return s.include(ctx, arg)
	case `\timing`:
		return toggle(&s.timing, arg, "Timing")
	case `\x`:
		return toggle(&s.options.Expanded, arg, "Expanded display")
	case `\format`:
		if arg == "" {
			fmt.Println(s.options.Format)
			return nil
		}
		if !render.Known(arg) {
			return fmt.Errorf("there is no format %q (%s)", arg, strings.Join(render.Formats, ", "))
		}
		s.options.Format = arg
	default:
		return fmt.Errorf(`there is no command %s; \? lists them`, name)
	}
	return nil
}

func toggle(flag *bool, arg, what string) error {
	switch strings.ToLower(arg) {
	case "":
		*flag = !*flag
	case "on":
		*flag = true
	case "off":
		*flag = false
	default:
		return fmt.Errorf("%q is not on or off", arg)
	}
	word := "off"
	if *flag {
		word = "on"
	}
	fmt.Printf("%s is %s.\n", what, word)
	return nil
}

// include runs the statements of a file.
func (s *shell) include(ctx context.Context, name string) error {
	if name == "" {
		return fmt.Errorf(`\i needs the name of a file`)
	}
	if strings.HasPrefix(name, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			name = home + name[1:]
		}
	}
	src, err := readFile(name)
	if err != nil {
		return err
	}
	return s.script(ctx, src)
}

// describe is \d: columns of a table, or all tables.
func (s *shell) describe(ctx context.Context, name string) error {
	if name == "" {
		return s.listTables(ctx, true)
	}
	return s.script(ctx, source{text: "DESCRIBE " + strings.TrimSuffix(name, ";")})
}

// listTables prints the catalog through SQL, so that it looks as every other table does.
func (s *shell) listTables(ctx context.Context, views bool) error {
	var rows []string
	for _, t := range s.session.Tables() {
		kind, sizes := "table", fmt.Sprintf("%d, %s", t.Rows, kelpie.QuoteString(humanBytes(t.Bytes)))
		if t.View {
			kind, sizes = "view", "null, null"
		}
		if views || !t.View {
			rows = append(rows, fmt.Sprintf("(%s, '%s', %d, %s)", kelpie.QuoteString(t.Name), kind, len(t.Columns), sizes))
		}
	}
	if len(rows) == 0 {
		fmt.Println("There are no tables yet. CALL tpch(sf => 0.1); makes some.")
		return nil
	}
	res, err := s.session.Query(ctx, "select * from (values "+strings.Join(rows, ", ")+") as t(name, kind, columns, rows, size)")
	if err != nil {
		return err
	}
	o := s.options
	o.Expanded = false
	return render.Write(ctx, s.out, res, o)
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
