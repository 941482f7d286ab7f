package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"

	"github.com/kelpiedb/kelpie"
)

// shell is the interactive shell.
type shell struct {
	*runner
	db     *kelpie.DB
	engine *engineFlags
	edit   *readline.Shell
	depth  int // of \i files that run each other
}

func newShell(db *kelpie.DB, r *runner, engine *engineFlags) *shell {
	s := &shell{runner: r, db: db, engine: engine, edit: readline.NewShell(inputrc.WithApp("kelpie"))}
	s.edit.Prompt.Primary(func() string { return "kelpie> " })
	s.edit.Prompt.Secondary(func() string { return "   ...> " })
	s.edit.Config.Set("multiline-column", false)
	s.edit.AcceptMultiline = func(line []rune) bool { return complete(string(line)) }
	s.edit.Completer = s.completions
	s.edit.SyntaxHighlighter = highlight
	if path := stateFile("history"); path != "" {
		// The editor wants the file to be there.
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND, 0o600); err == nil {
			f.Close()
			s.edit.History.AddFromFile("kelpie", path)
		}
	}
	return s
}

// errQuit ends the shell.
var errQuit = errors.New("quit")

func (s *shell) run() error {
	fmt.Printf("%s on %s, %d thread%s. Statements end with ; and \\? tells more.\n", versionText(), s.engine.device, s.engine.threads, plural(s.engine.threads))
	if err := s.engine.runnable(); err != nil {
		fmt.Println("WARNING:", err)
	}
	for {
		line, err := s.edit.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt): // Ctrl-C: the line is given up
			continue
		case errors.Is(err, io.EOF): // Ctrl-D
			fmt.Println(`\q`)
			return nil
		case err != nil:
			return err
		}
		switch err := s.line(line); {
		case errors.Is(err, errQuit):
			return nil
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(os.Stderr, "canceled")
		case err != nil:
			report(os.Stderr, err, source{})
		}
	}
}

// line runs what was entered. Ctrl-C cancels it and nothing else.
func (s *shell) line(line string) error {
	line = strings.TrimSpace(line)
	switch strings.ToLower(strings.TrimRight(line, "; ")) {
	case "":
		return nil
	case "exit", "quit":
		return errQuit
	case "help":
		line = `\?`
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s.options.Width = columns(os.Stdout) // the window may have changed
	if strings.HasPrefix(line, `\`) {
		return s.command(ctx, line)
	}
	return s.script(ctx, source{text: line})
}
