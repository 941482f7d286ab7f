package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/edit"
)

// shell is the interactive shell.
type shell struct {
	*runner
	engine *engineFlags
	screen *os.File // where the user looks
	editor *edit.Editor
}

func newShell(r *runner, engine *engineFlags) *shell {
	screen := os.Stdout
	if !isTerminal(screen) && isTerminal(os.Stderr) {
		screen = os.Stderr // kelpie > file: only results belong into the file
	}
	r.interactive = true
	s := &shell{runner: r, engine: engine, screen: screen, editor: edit.New(os.Stdin, screen)}
	s.editor.Complete = complete
	s.editor.Candidates = s.candidates
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		s.editor.Styles = highlight
	}
	if path := stateFile("history"); path != "" {
		s.editor.History = edit.LoadHistory(path)
	}
	return s
}

// errQuit ends the shell, or a script.
var errQuit = errors.New("quit")

func (s *shell) run() error {
	fmt.Fprintf(s.screen, "%s on %s, %d thread%s\nStatements end with a semicolon; \\? tells more.\n\n",
		versionText(), s.engine.device, s.engine.threads, plural(s.engine.threads))
	for {
		s.editor.Prompt, s.editor.More = prompts(s.session.Status())
		line, err := s.editor.Read()
		switch {
		case errors.Is(err, edit.ErrInterrupt): // Ctrl-C: the line is given up
			s.editor.Start = ""
			continue
		case errors.Is(err, io.EOF): // Ctrl-D
			return s.endOutput()
		case err != nil:
			return err
		}
		switch err := s.line(line); {
		case errors.Is(err, errQuit):
			return s.endOutput()
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(os.Stderr, "canceled")
		case err != nil:
			report(os.Stderr, err, source{})
		}
	}
}

// prompts are those of a line and of its continuation. A star stands for an open transaction, an exclamation mark for
// one that failed, as in psql.
func prompts(st kelpie.Status) (first, more string) {
	mark := map[kelpie.Status]string{kelpie.InTransaction: "*", kelpie.Failed: "!"}[st]
	first = "kelpie" + mark + "> "
	return first, strings.Repeat(" ", len(first)-len("...> ")) + "...> "
}

// line runs what was entered. Ctrl-C cancels it and nothing else. A statement that has begun, and that a command did not take,
// is there again for the next line.
func (s *shell) line(line string) error {
	switch strings.ToLower(strings.Trim(line, "; \n")) {
	case "exit", "quit":
		return errQuit
	case "help":
		line = `\?`
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text := newScript("", strings.NewReader(line))
	text.open, text.data = true, os.Stdin
	err := s.runner.run(ctx, text)
	s.editor.Start = ""
	if (err == nil || text.command) && text.pending() != "" { // a mistake in a command costs nothing
		s.editor.Start = text.pending() + "\n"
	}
	return err
}
