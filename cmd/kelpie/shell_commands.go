package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

// shellCommand is a command of the shell, under the name that psql's users know, and the one that DuckDB's do.
type shellCommand struct {
	name, dot string // either may be missing
	args      string
	help      string // "": not worth a line
	run       func(r *runner, ctx context.Context, arg string) error
	file      bool // its argument is the name of a file
}

var shellCommands []shellCommand

func init() { // it refers to itself: \? lists it
	shellCommands = []shellCommand{
		{`\d`, "", "[NAME]", "tables and views, or the columns of one", (*runner).describe, false},
		{`\dt`, ".tables", "[PATTERN]", "tables with their sizes; * stands for anything", listing("table"), false},
		{`\dv`, "", "[PATTERN]", "views", listing("view"), false},
		{`\dT`, "", "[PATTERN]", "enums with their labels", (*runner).enums, false},
		{`\df`, ".functions", "[PATTERN]", "functions, operators and aggregates", (*runner).functions, false},
		{`\l`, ".databases", "", "databases: there is one, in memory", (*runner).databases, false},
		{"", ".schema", "[NAME]", "the statements that make tables and views", (*runner).schema, false},
		{`\e`, ".edit", "", "edit the statement in $EDITOR", (*runner).edit, false},
		{`\p`, "", "", "show the statement that has begun, or the last", (*runner).showPending, false},
		{`\r`, "", "", "forget the statement that has begun", (*runner).reset, false},
		{`\g`, "", "", "run it; without one, the last again", (*runner).again, false},
		{`\gx`, "", "", "the same, a line per value", (*runner).againExpanded, false},
		{`\watch`, "", "[SEC] [c=N]", "run it every 2 s, until Ctrl-C or N times", (*runner).watch, false},
		{`\i`, ".read", "FILE", "run the statements of a file", (*runner).include, true},
		{`\o`, ".output", "[FILE]", "results go to a file, or |COMMAND; else back", (*runner).redirect, true},
		{`\copy`, "", "...", "COPY; the file needs no quotes", (*runner).copy, true},
		{`\format`, ".mode", "[FORMAT]", "how results are printed", (*runner).format, false},
		{`\x`, "", "[on|off]", "a line per value instead of a line per row", toggle("Expanded display", func(r *runner) *bool { return &r.options.Expanded }), false},
		{`\t`, "", "[on|off]", "rows only, without names and counts", toggle("Tuples only", func(r *runner) *bool { return &r.options.Bare }), false},
		{`\timing`, ".timer", "[on|off]", "time of each statement", toggle("Timing", func(r *runner) *bool { return &r.timing }), false},
		{`\pager`, "", "[on|off]", "results that do not fit the screen go to $PAGER", toggle("Pager", func(r *runner) *bool { return &r.pager }), false},
		{`\pset`, "", "[NAME VALUE]", "change null, maxrows, format, pager and more", (*runner).pset, false},
		{"", ".nullvalue", "TEXT", "", func(r *runner, ctx context.Context, arg string) error { return r.pset(ctx, "null "+arg) }, false},
		{"", ".maxrows", "N", "", func(r *runner, ctx context.Context, arg string) error { return r.pset(ctx, "maxrows "+arg) }, false},
		{`\cd`, ".cd", "[FOLDER]", "go to another folder", (*runner).chdir, true},
		{`\!`, ".shell", "[COMMAND]", "run a command of the system", (*runner).system, false},
		{"", ".system", "COMMAND", "", (*runner).system, false},
		{`\echo`, ".print", "TEXT", "print a text", (*runner).echo, false},
		{`\?`, ".help", "", "this help", (*runner).help, false},
		{`\h`, "", "", "", (*runner).help, false},
		{`\help`, "", "", "", (*runner).help, false},
		{`\q`, ".quit", "", "leave (also Ctrl-D)", quit, false},
		{"", ".exit", "", "", quit, false},
	}
}

const shellHelpEnd = `
  CALL tpch(sf => 0.1);   make the TPC-H tables to play with; also ssb
  SHOW ALL;               settings; SET threads = 4; changes one
  Ctrl-C                  cancels the statement that runs; Tab completes
`

// shellHelp is what \? prints.
func shellHelp() string {
	var b strings.Builder
	for _, c := range shellCommands {
		if c.help == "" {
			continue
		}
		names := strings.Trim(c.name+" "+c.dot, " ")
		fmt.Fprintf(&b, "  %-15s %-12s %s\n", names, c.args, c.help)
	}
	b.WriteString("\n  Formats: " + strings.Join(render.Formats, " ") + "\n")
	return b.String() + shellHelpEnd
}

// command runs a line that begins with a backslash or a dot.
func (r *runner) command(ctx context.Context, line string) error {
	name, arg := line, ""
	if strings.HasPrefix(line, `\!`) { // \!ls
		name, arg = line[:2], line[2:]
	} else if i := strings.IndexAny(line, " \t"); i >= 0 {
		name, arg = line[:i], line[i:]
	}
	name = strings.TrimSuffix(name, ";")
	arg = strings.TrimSpace(arg)
	if name != `\!` && name != `\echo` && name != ".print" {
		arg = strings.TrimSpace(strings.TrimSuffix(arg, ";"))
	}
	for _, c := range shellCommands {
		if name == c.name || name == c.dot {
			return c.run(r, ctx, arg)
		}
	}
	list := `\?`
	if name[0] == '.' {
		list = ".help"
	}
	return fmt.Errorf(`there is no command %s; %s lists them`, name, list)
}

func quit(*runner, context.Context, string) error { return errQuit }

func (r *runner) help(context.Context, string) error {
	_, err := fmt.Fprint(r.output, shellHelp())
	return err
}

func (r *runner) echo(_ context.Context, text string) error {
	_, err := fmt.Fprintln(r.output, unquoted(text))
	return err
}

// toggle is a command that turns something on and off.
func toggle(what string, flag func(*runner) *bool) func(*runner, context.Context, string) error {
	return func(r *runner, _ context.Context, arg string) error {
		f := flag(r)
		switch strings.ToLower(arg) {
		case "":
			*f = !*f
		case "on", "true", "yes", "1":
			*f = true
		case "off", "false", "no", "0":
			*f = false
		default:
			return fmt.Errorf("%q is not on or off", arg)
		}
		word := "off"
		if *f {
			word = "on"
		}
		return r.say(what + " is " + word + ".")
	}
}

// say tells that a command did something, unless a program reads: that wants nothing but rows.
func (r *runner) say(text string) error {
	if !render.ForPeople(r.options) {
		return nil
	}
	_, err := fmt.Fprintln(r.output, text)
	return err
}

// format is \format: it tells the format, or changes it. The rows of insert go into the table that is named behind it.
func (r *runner) format(_ context.Context, arg string) error {
	if arg == "" {
		_, err := fmt.Fprintln(r.output, r.options.Format)
		return err
	}
	return r.setFormat(arg)
}

func (r *runner) setFormat(arg string) error {
	name, table, _ := strings.Cut(arg, " ")
	format, ok := render.Find(name)
	if !ok {
		return fmt.Errorf("there is no format %q (%s)", name, strings.Join(render.Formats, ", "))
	}
	r.options.Expanded = name == "line"
	r.options.Format, r.options.Table = format, unquoted(strings.TrimSpace(table))
	return nil
}

// pset is psql's \pset, as far as it has a meaning here.
func (r *runner) pset(ctx context.Context, arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	switch name {
	case "":
		rows := "as many as fit"
		if r.maxRows != 0 {
			rows = strings.Replace(strconv.Itoa(r.maxRows), "-1", "all", 1)
		}
		_, err := fmt.Fprintf(r.output, "expanded    %v\nformat      %s\nmaxrows     %s\nnull        '%s'\npager       %v\ntuples_only %v\n",
			r.options.Expanded, r.options.Format, rows, r.options.Null, r.pager, r.options.Bare)
		return err
	case "null":
		r.options.Null = unquoted(value)
		return nil
	case "format":
		return r.format(ctx, value)
	case "pager", "expanded", "tuples_only":
		return r.command(ctx, map[string]string{"pager": `\pager `, "expanded": `\x `, "tuples_only": `\t `}[name]+value)
	case "maxrows":
		n, err := strconv.Atoi(value)
		switch {
		case value == "all":
			n = -1
		case value == "" || value == "auto":
			n = 0
		case err != nil || n < 0:
			return fmt.Errorf("maxrows: %q is neither a number, nor all, nor auto", value)
		}
		r.maxRows = n
		return nil
	}
	return fmt.Errorf(`\pset knows null, format, pager, expanded, tuples_only and maxrows, but not %q`, name)
}

// include runs the statements of a file.
func (r *runner) include(ctx context.Context, name string) error {
	if name == "" {
		return errors.New(`\i needs the name of a file`)
	}
	s, err := openScript(atHome(unquoted(name)))
	if err != nil {
		return err
	}
	return r.run(ctx, s)
}

func (r *runner) chdir(_ context.Context, dir string) error {
	if dir == "" {
		dir = "~/"
	}
	return os.Chdir(atHome(unquoted(dir)))
}

func (r *runner) system(ctx context.Context, command string) error {
	args := []string{"-c", command}
	if command == "" {
		args = nil
	}
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "sh"
	}
	c := exec.Command(shell, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, r.output, os.Stderr
	if r.output.size != nil {
		c.Stdout = os.Stdout
	}
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // it has said why
		return fmt.Errorf("%s: %v", command, err)
	}
	return err
}

// atHome is a path in which ~ stands for the user's home.
func atHome(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	return path
}

// unquoted is a text without the quotes around it.
func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return strings.ReplaceAll(s[1:n-1], s[:1]+s[:1], s[:1])
	}
	return s
}

// copy is psql's \copy: COPY, of which the file may be without quotes. The engine runs where the shell does, so that both
// are the same.
func (r *runner) copy(ctx context.Context, arg string) error {
	return r.statement(ctx, item{text: "COPY " + quotedFile(arg)})
}

// quotedFile puts quotes around the word that follows TO or FROM outside of parentheses.
func quotedFile(arg string) string {
	depth, after := 0, false
	for i := 0; i < len(arg); {
		end, kind := token(arg, i)
		if end < 0 {
			return arg
		}
		word := arg[i:end]
		switch {
		case kind == tokenSpace:
		case after:
			if kind == tokenString || slices.Contains([]string{"stdin", "stdout", "pstdin", "pstdout"}, strings.ToLower(word)) {
				return arg
			}
			n := strings.IndexAny(arg[i:], " \t")
			if n < 0 {
				n = len(arg) - i
			}
			return arg[:i] + kelpie.QuoteString(atHome(arg[i:i+n])) + arg[i+n:]
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth == 0 && (strings.EqualFold(word, "to") || strings.EqualFold(word, "from")):
			after = true
		}
		i = end
	}
	return arg
}
