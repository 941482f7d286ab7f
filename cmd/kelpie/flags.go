package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie"
)

const help = `Kelpie is an analytical SQL engine that compiles every query.

Usage:
  kelpie [flags]                  the interactive shell, or SQL piped to stdin
  kelpie [flags] -c SQL           run statements
  kelpie [flags] -f FILE          run the statements of a file (- is stdin)
  kelpie demo  [--sf N]           generate TPC-H and run its 22 queries
  kelpie bench tpch|ssb|more      measure a benchmark
  kelpie check tpch|ssb|more      compare a device's rows with the CPU's
  kelpie gen   tpch|ssb [flags]   write a benchmark's tables as .tbl files
  kelpie plan  write|run          plans as JSON documents
  kelpie lab list|run|all|page    repeat the papers' experiments
  kelpie devices                  list the processors that queries can run on

Flags:
  -c SQL             statements to run; -c and -f may be given several times
  -f FILE            file of statements
  --format FORMAT    table (default), box, csv, tsv, json, jsonl, markdown,
                     html, latex, insert, parquet or arrow
  --timing           how long each statement took: parse, plan, compile, execute
` + engineHelp + `  --version          print the version
  --help             print this; kelpie COMMAND --help tells about a command

Examples:
  kelpie demo
  kelpie -c "call tpch(sf => 0.1); select count(*) from lineitem"
  kelpie --format csv -f report.sql > report.csv
`

// engineHelp tells of the flags that all commands have which run queries.
const engineHelp = `  --device NAME      where queries run: cpu (default), gpu, auto (one of these),
                     or simt, a simulated GPU; kelpie devices lists them
  --threads N        threads per query (default: all processors)
  --memory SIZE      memory for all tables and statements together, such as 4GB
                     (default: 80 % of the machine)
  --gpu-memory SIZE  memory of a GPU for columns (default: what it has)
`

// usageError is a mistake on the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errHelp says that help was asked for and given.
var errHelp = errors.New("help")

// parseFlags parses args, in which flags and words may come in any order, and returns the words.
func parseFlags(fs *flag.FlagSet, args []string, help string) ([]string, error) {
	fs.SetOutput(io.Discard) // we print errors ourselves
	var words []string
	for {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			fmt.Print(help)
			return nil, errHelp
		case err != nil:
			return nil, usageError{err}
		}
		if fs.NArg() == 0 {
			return words, nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// engineFlags are the flags of all commands that run queries.
type engineFlags struct {
	device  string
	threads int
	memory  string
	gpu     string // bytes of its memory
}

func (f *engineFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.device, "device", "", "")
	fs.IntVar(&f.threads, "threads", 0, "")
	fs.StringVar(&f.memory, "memory", "", "")
	fs.StringVar(&f.gpu, "gpu-memory", "", "")
}

// open makes a database as the flags ask for it.
func (f *engineFlags) open(opts ...kelpie.Option) (*kelpie.DB, error) {
	if f.threads < 0 {
		return nil, usagef("--threads %d: it must be 1 or more", f.threads)
	}
	if f.threads == 0 {
		f.threads = runtime.GOMAXPROCS(0)
	}
	if err := f.choose(os.Stderr); err != nil {
		return nil, err
	}
	opts = append(opts, kelpie.WithThreads(f.threads), kelpie.WithDevice(f.device))
	if f.memory != "" {
		n, err := kelpie.ParseSize(f.memory)
		if err != nil {
			return nil, usagef("--memory: %v", err)
		}
		opts = append(opts, kelpie.WithMemoryLimit(n), kelpie.WithTotalMemory(n))
	}
	if f.gpu != "" {
		n, err := kelpie.ParseSize(f.gpu)
		if err != nil {
			return nil, usagef("--gpu-memory: %v", err)
		}
		opts = append(opts, kelpie.WithGPUMemory(n))
	}
	db, err := kelpie.Open(opts...)
	if err != nil {
		var e *kelpie.Error
		if errors.As(err, &e) {
			err = errors.New(e.Message)
		}
		return nil, usageError{err}
	}
	return db, nil
}

// choose settles the device. Where there is no translator for the processor the simulated GPU serves,
// but not silently: it is slow. Nor is it silent that there is no GPU where one was asked for; it is said
// once then, not with every query.
func (f *engineFlags) choose(warn io.Writer) error {
	can := slices.Contains(kelpie.Devices(), "cpu")
	switch {
	case f.device == "" && can:
		f.device = "cpu"
	case f.device == "":
		f.device = "simt"
		fmt.Fprintf(warn, "NOTE: there is no CPU translator for %s/%s yet; queries run on a simulated GPU, slowly.\n"+
			"--device simt asks for it and leaves this note out.\n", runtime.GOOS, runtime.GOARCH)
	case f.device == "gpu" && kelpie.MayHaveGPU(): // the driver begins beside what comes before the first query
	case f.device == "gpu":
		if _, err := kelpie.GPUs(); err != nil {
			f.device = kelpie.Devices()[0]
			fmt.Fprintf(warn, "NOTE: there is no GPU to use (%v); queries run on %s.\n", err, f.device)
		}
	case f.device == "cpu" && !can:
		return fmt.Errorf("there is no CPU translator for %s/%s yet: generated code cannot run on this machine\n"+
			"HINT: --device simt runs everywhere: it simulates a GPU, slowly but exactly", runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

// version is set by -ldflags "-X main.version=v1.2.3"; otherwise the module's is taken.
var version string

func versionText() string {
	v := version
	if info, ok := debug.ReadBuildInfo(); v == "" && ok {
		v = strings.Trim(info.Main.Version, "()")
	}
	if v == "" {
		v = "devel"
	}
	return fmt.Sprintf("kelpie %s (%s, %s/%s)", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
