package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/kelpiedb/kelpie"
)

const devicesHelp = `Lists the processors that queries can run on, by the names that --device and
SET device take. A line without one says what is missing.

Usage:
  kelpie devices
`

func devicesCommand(_ context.Context, args []string) error {
	words, err := parseFlags(flag.NewFlagSet("devices", flag.ContinueOnError), args, devicesHelp)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return usagef("devices takes no argument %q", words[0])
	}
	gpus, missing := kelpie.GPUs()
	listDevices(os.Stdout, kelpie.Processor(), gpus, missing)
	return nil
}

// listDevices prints a line for each device.
func listDevices(w io.Writer, cpu string, gpus []kelpie.GPU, missing error) {
	if cpu != "" {
		fmt.Fprintf(w, "cpu    %s, %d thread%s\n", cpu, runtime.GOMAXPROCS(0), plural(runtime.GOMAXPROCS(0)))
	} else {
		fmt.Fprintf(w, "cpu    not here: there is no translator for %s/%s yet\n", runtime.GOOS, runtime.GOARCH)
	}
	for i, g := range gpus {
		name := "gpu"
		if i > 0 {
			name = "" // listed, not used
		}
		fmt.Fprintf(w, "%-6s %s: %.1f GiB, compute capability %s, %d multiprocessors; %s\n", name, g.Name, float64(g.Memory)/(1<<30), g.Capability, g.Units, g.Driver)
	}
	if missing != nil {
		fmt.Fprintf(w, "gpu    not here: %v\n", missing)
	}
	fmt.Fprintln(w, "simt   a GPU simulated in Go, slow but exact")
	if missing == nil {
		fmt.Fprintln(w, "auto   cpu or gpu, for each query: EXPLAIN says which, and why")
	} else {
		fmt.Fprintln(w, "auto   cpu or gpu, for each query; here always the CPU")
	}
}
