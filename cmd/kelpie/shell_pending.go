package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Commands about the statement that has begun, or else the last one.

// pendingOrLast is that statement; it is taken off the script.
func (r *runner) pendingOrLast() (item, error) {
	it := r.script.drop()
	if blank(it.text) {
		it = item{text: r.last}
	}
	if blank(it.text) {
		return it, errors.New("there is no statement yet")
	}
	return it, nil
}

func (r *runner) again(ctx context.Context, _ string) error {
	it, err := r.pendingOrLast()
	if err != nil {
		return err
	}
	return r.statement(ctx, it)
}

func (r *runner) againExpanded(ctx context.Context, arg string) error {
	defer func(was bool) { r.options.Expanded = was }(r.options.Expanded)
	r.options.Expanded = true
	return r.again(ctx, arg)
}

func (r *runner) showPending(context.Context, string) error {
	text := r.script.pending()
	if text == "" {
		text = r.last
	}
	_, err := fmt.Fprintln(r.output, text)
	return err
}

func (r *runner) reset(context.Context, string) error {
	r.script.drop()
	return r.say("The statement is forgotten.")
}

// edit is \e: the user's editor changes the statement. What comes back goes on as if it had been typed: complete statements
// run, the rest waits.
func (r *runner) edit(ctx context.Context, _ string) error {
	if !isTerminal(os.Stdin) {
		return errors.New(`\e needs a terminal`)
	}
	text := r.script.drop().text
	if blank(text) {
		text = r.last
	}
	text, err := edited(text)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.output, text)
	r.script.add(text + "\n")
	return nil
}

// edited is the text after the user's editor.
func edited(text string) (string, error) {
	f, err := os.CreateTemp("", "kelpie-*.sql")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if e := os.Getenv(name); e != "" {
			editor = e
		}
	}
	c := exec.Command("sh", "-c", editor+` "$1"`, "sh", f.Name()) // it may have arguments
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", editor, err)
	}
	out, err := os.ReadFile(f.Name())
	return strings.TrimSpace(string(out)), err
}
