// Command kelpie is the SQL shell, and the bench, of the Kelpie engine. Run kelpie --help.
//
// Each command has its file: query.go runs SQL from -c, -f and stdin, which script.go cuts into statements and
// commands; shell.go is the interactive shell, shell_commands.go has its commands, output.go is where results go;
// demo.go, bench.go, check.go, devices.go, gen.go, lab.go and plan.go are the commands of these names. main.go turns errors into exit
// codes: 0 all is well, 1 a statement failed, 2 the command line is wrong, 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/kelpiedb/kelpie"
)

const (
	exitError     = 1
	exitUsage     = 2
	exitInterrupt = 130 // as a shell reports a program that SIGINT ended
)

func main() { os.Exit(run(os.Args[1:])) }

// commands are the words that may stand first on the command line; without one it is SQL.
var commands = map[string]func(ctx context.Context, args []string) error{
	"bench":   benchCommand,
	"check":   checkCommand,
	"demo":    demoCommand,
	"devices": devicesCommand,
	"gen":     genCommand,
	"lab":     labCommand,
	"plan":    planCommand,
}

func run(args []string) int {
	// The first Ctrl-C cancels what runs; a second one, if that does not help, ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)

	command := queryCommand
	args = commandFirst(args)
	if len(args) > 0 {
		switch c, ok := commands[args[0]]; {
		case ok:
			command, args = c, args[1:]
		case args[0] == "help":
			args = append(args[1:], "--help")
			if c, ok := commands[args[0]]; ok {
				command, args = c, args[1:]
			} else if args[0] != "--help" {
				return exitCode(ctx, usagef("there is no command %q to tell of", args[0]))
			}
		case args[0] == "version":
			args = []string{"--version"}
		}
	}
	return exitCode(ctx, command(ctx, args))
}

// commandFirst moves the command before the flags that all commands have: kelpie --threads 2 demo.
func commandFirst(args []string) []string {
	fs := flag.NewFlagSet("kelpie", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	new(engineFlags).register(fs)
	if fs.Parse(args) != nil || fs.NArg() == 0 || commands[fs.Arg(0)] == nil {
		return args
	}
	at := len(args) - fs.NArg()
	return slices.Concat(args[at:at+1], args[:at], args[at+1:])
}

// exitCode reports an error that nobody has reported yet and says how the process ends.
func exitCode(ctx context.Context, err error) int {
	var usage usageError
	switch {
	case err == nil || errors.Is(err, errHelp) || errors.Is(err, errQuit):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "kelpie: %v\nTry kelpie --help.\n", err)
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "interrupted")
		return exitInterrupt
	}
	report(os.Stderr, err, source{})
	return exitError
}

// errReported is an error that the user has seen already.
type errReported struct{ error }

func (e errReported) Unwrap() error { return e.error }

// source is a text and where it came from.
type source struct {
	file string // "" for -c and stdin
	text string
}

// failed reports a statement's error. One that was interrupted made no mistake.
func failed(ctx context.Context, err error, src source) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	report(os.Stderr, err, src)
	return errReported{err}
}

// report prints an error for the person who wrote src, with the line and a caret where it has a
// place.
func report(w *os.File, err error, src source) {
	var seen errReported
	if errors.As(err, &seen) {
		return
	}
	prefix := ""
	if src.file != "" {
		prefix = src.file + ": "
	}
	var e *kelpie.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(w, "kelpie: %s%v\n", prefix, err)
		return
	}
	fmt.Fprintln(w, prefix+e.Format(src.text))
	if stack := e.Stack(); stack != nil && os.Getenv("KELPIE_STACK") != "" {
		fmt.Fprintf(w, "%s\n", stack)
	}
}
