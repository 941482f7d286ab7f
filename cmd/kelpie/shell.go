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

// errQuit ends the shell.
var errQuit = errors.New("quit")

func (s *shell) run() error {
	fmt.Fprintf(s.screen, "%s on %s, %d thread%s\nStatements end with a semicolon; \\? tells more.\n\n",
		versionText(), s.engine.device, s.engine.threads, plural(s.engine.threads))
	for {
		s.editor.Prompt, s.editor.More = prompts(s.session.Status())
		line, err := s.editor.Read()
		switch {
		case errors.Is(err, edit.ErrInterrupt): // Ctrl-C: the line is given up
			continue
		case errors.Is(err, io.EOF): // Ctrl-D
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

// prompts are those of a line and of its continuation. A star stands for an open transaction, an exclamation mark for
// one that failed, as in psql.
func prompts(st kelpie.Status) (first, more string) {
	mark := map[kelpie.Status]string{kelpie.InTransaction: "*", kelpie.Failed: "!"}[st]
	first = "kelpie" + mark + "> "
	return first, strings.Repeat(" ", len(first)-len("...> ")) + "...> "
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
