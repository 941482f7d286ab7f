package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

// source is a text to run and where it came from.
type source struct {
	file string // "" for -c and stdin
	text string
}

// queryCommand is kelpie without a command: it runs -c, -f or stdin, or opens the shell.
func queryCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	var read []func() (source, error) // -c and -f, in order
	fs := flag.NewFlagSet("kelpie", flag.ContinueOnError)
	engine.register(fs)
	format := fs.String("format", "table", "")
	timing := fs.Bool("timing", false, "")
	showVersion := fs.Bool("version", false, "")
	fs.Func("c", "", func(text string) error {
		read = append(read, func() (source, error) { return source{text: text}, nil })
		return nil
	})
	fs.Func("f", "", func(name string) error {
		read = append(read, func() (source, error) { return readFile(name) })
		return nil
	})
	words, err := parseFlags(fs, args, help)
	switch {
	case err != nil:
		return err
	case *showVersion:
		fmt.Println(versionText())
		return nil
	case len(words) > 0:
		return usagef("there is no command %q; SQL is given with -c", words[0])
	case !render.Known(*format):
		return usagef("there is no format %q (%s)", *format, strings.Join(render.Formats, ", "))
	}
	meter := newProgress(os.Stderr)
	db, err := engine.open(meter.option())
	if err != nil {
		return err
	}
	defer db.Close()
	r := &runner{session: db.Session(), out: os.Stdout, timing: *timing, progress: meter,
		options: render.Options{Format: *format, Width: columns(os.Stdout)}}
	if len(read) == 0 {
		if isTerminal(os.Stdin) {
			return newShell(r, &engine).run()
		}
		read = append(read, func() (source, error) { return readFile("-") })
	}
	for _, f := range read {
		src, err := f()
		if err != nil {
			return err
		}
		if err := r.script(ctx, src); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a script; - is stdin.
func readFile(name string) (source, error) {
	if name == "-" {
		text, err := io.ReadAll(os.Stdin)
		return source{text: string(text)}, err
	}
	text, err := os.ReadFile(name)
	return source{name, string(text)}, err
}

// runner runs statements and prints their results.
type runner struct {
	session  *kelpie.Session
	out      io.Writer
	options  render.Options
	timing   bool
	progress *progress
}

// script runs the statements of a text up to the first error, which it reports.
func (r *runner) script(ctx context.Context, src source) error {
	stmts, err := r.session.Parse(src.text)
	if err != nil {
		return failed(ctx, err, src)
	}
	for _, st := range stmts {
		if err := r.statement(ctx, st); err != nil {
			return failed(ctx, err, src)
		}
	}
	return nil
}

// failed reports a statement's error. One that was interrupted made no mistake.
func failed(ctx context.Context, err error, src source) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	report(os.Stderr, err, src)
	return errReported{err}
}

// statement runs one statement and prints its result.
func (r *runner) statement(ctx context.Context, st *kelpie.Statement) error {
	var res *kelpie.Result
	err := r.progress.during(func() (err error) {
		res, err = r.session.Run(ctx, st)
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range res.Warnings() {
		fmt.Fprintln(os.Stderr, "WARNING: "+w.Message)
	}
	for _, n := range res.Notices() {
		fmt.Fprintln(os.Stderr, "NOTICE: "+n)
	}
	if err := render.Write(ctx, r.out, res, r.options); err != nil {
		return err
	}
	if r.timing {
		fmt.Fprintln(os.Stderr, timingText(res.Timing()))
	}
	return nil
}

// timingText is the line that --timing prints, to stderr, so that it does not get among the rows.
func timingText(t kelpie.Timing) string {
	return fmt.Sprintf("Time: %.3f ms (parse %.3f, plan %.3f, compile %.3f, execute %.3f)",
		ms(t.Total()), ms(t.Parse), ms(t.Plan), ms(t.Compile), ms(t.Execute))
}
