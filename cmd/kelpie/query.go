package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

// queryCommand is kelpie without a command: it runs -c, -f or stdin, or opens the shell.
func queryCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	var read []func() (*script, error) // -c and -f, in order
	fs := flag.NewFlagSet("kelpie", flag.ContinueOnError)
	engine.register(fs)
	format := fs.String("format", "table", "")
	timing := fs.Bool("timing", false, "")
	showVersion := fs.Bool("version", false, "")
	fs.Func("c", "", func(text string) error {
		read = append(read, func() (*script, error) {
			s := scriptOf("", text)
			s.data = os.Stdin
			return s, nil
		})
		return nil
	})
	fs.Func("f", "", func(name string) error {
		read = append(read, func() (*script, error) { return openScript(name) })
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
	}
	meter := newProgress(os.Stderr)
	r := &runner{timing: *timing, progress: meter, options: render.Options{Null: "NULL"}}
	if err := r.setFormat(*format); err != nil {
		return usageError{err}
	}
	db, err := engine.open(meter.option())
	if err != nil {
		return err
	}
	defer db.Close()
	r.session = db.Session()
	r.setOutput(standardOutput())
	if len(read) == 0 {
		if isTerminal(os.Stdin) {
			return newShell(r, &engine).run()
		}
		read = append(read, func() (*script, error) { return openScript("-") })
	}
	err = r.scripts(ctx, read)
	if end := r.endOutput(); err == nil { // what is complete stays so if a later statement fails
		err = end
	}
	return err
}

// scripts runs one script after the other. Nothing runs if one has a mistake that can be seen before, unless it comes from a pipe:
// its statements run as they come. Several results are one JSON document, for which all of the text must be known, too.
func (r *runner) scripts(ctx context.Context, read []func() (*script, error)) error {
	var all []*script
	results := 0
	for _, f := range read {
		s, err := f()
		if err != nil {
			return err
		}
		if s.known || r.options.Format == "json" {
			n, err := s.survey(ctx)
			if err != nil {
				return err
			}
			results += n
		}
		all = append(all, s)
	}
	r.options.Several = results > 1
	for _, s := range all {
		if err := r.run(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// openScript opens a script; - is stdin.
func openScript(name string) (*script, error) {
	if name == "-" {
		return newScript("", os.Stdin), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return scriptOf(name, string(text)), nil
}

// runner runs statements and commands and prints their results.
type runner struct {
	session  *kelpie.Session
	output   output
	printer  *render.Writer
	options  render.Options
	timing   bool
	progress *progress
	pager    bool

	interactive bool
	maxRows     int // on a terminal; 0: as many as fit, -1: all

	script *script
	depth  int    // of scripts that include scripts
	last   string // the last statement
}

// answer runs one statement and prints its result.
func (r *runner) answer(ctx context.Context, st *kelpie.Statement) error {
	var res *kelpie.Result
	if st.CopiesIn() || st.CopiesOut() {
		return r.copyStreams(ctx, st)
	}
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
	if err := r.print(ctx, res); err != nil {
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
