package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

// output is where results go.
type output struct {
	io.Writer
	size func() (width, height int) // of a terminal; nil if it is none
	end  func() error               // nil: there is nothing to close
}

// standardOutput is where results go at first.
func standardOutput() output {
	if isTerminal(os.Stdout) {
		return output{Writer: os.Stdout, size: func() (int, int) { return screenSize(os.Stdout) }}
	}
	return output{Writer: os.Stdout}
}

func (o output) close() error {
	if o.end == nil {
		return nil
	}
	return o.end()
}

// setOutput makes results go elsewhere from now on.
func (r *runner) setOutput(o output) {
	r.output = o
	r.printer = render.NewWriter(o)
}

// endOutput completes what the results before have begun and closes their file.
func (r *runner) endOutput() error {
	return errors.Join(r.printer.Close(), r.output.close())
}

// redirect is \o: results go to a file, or to a command behind a bar; without a name, to stdout again.
func (r *runner) redirect(_ context.Context, name string) error {
	if err := r.endOutput(); err != nil {
		return err
	}
	r.setOutput(standardOutput())
	if name == "" {
		return nil
	}
	if command, ok := strings.CutPrefix(name, "|"); ok {
		in, end, err := pipeTo(command)
		if err != nil {
			return err
		}
		r.setOutput(output{Writer: in, end: end})
		return nil
	}
	f, err := os.Create(unquoted(name))
	if err != nil {
		return err
	}
	r.setOutput(output{Writer: f, end: f.Close})
	return nil
}

// pipeTo starts a command of the user's shell that reads what is written. Writes fail when it has enough.
func pipeTo(command string) (io.Writer, func() error, error) {
	c := exec.Command("sh", "-c", command)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	return in, func() error { in.Close(); return c.Wait() }, nil
}

// rowsAround is how many lines of a screen are not for rows: header, footer, and prompts.
const rowsAround = 8

// print prints a result. On a terminal, a table has as many rows as fit it, or goes through a pager.
func (r *runner) print(ctx context.Context, res *kelpie.Result) error {
	o := r.options
	if r.output.size == nil {
		return r.printer.Write(ctx, res, o)
	}
	width, height := r.output.size()
	o.Width = width
	if r.maxRows >= 0 && !strings.HasPrefix(string(res.Tag()), "EXPLAIN") {
		if o.Rows = r.maxRows; o.Rows == 0 {
			o.Rows = max(height-rowsAround, 10)
		}
	}
	o.More = "; --format csv shows all"
	if r.interactive {
		o.More = `; \pager on shows all`
	}
	if r.pager && render.ForPeople(o) && (res.Len() > int64(height-rowsAround) || o.Expanded) {
		o.Width, o.Rows = 0, 0
		return r.paged(ctx, res, o)
	}
	return r.printer.Write(ctx, res, o)
}

// paged shows a result in the user's pager. Leaving that early is no mistake.
func (r *runner) paged(ctx context.Context, res *kelpie.Result, o render.Options) error {
	pager := os.Getenv("PAGER")
	if pager == "" {
		pager = "less -S"
	}
	in, end, err := pipeTo(pager)
	if err != nil {
		return fmt.Errorf("the pager: %w", err)
	}
	err = render.NewWriter(in).Write(ctx, res, o)
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	return errors.Join(err, end())
}
