package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/lab"
)

const labHelp = `Repeats the experiments of the papers that Kelpie descends from: for each
figure a table, a picture (SVG), and the paper's claim beside what is found here.

Usage:
  kelpie lab list                 the figures, and what some of them still lack
  kelpie lab run NAME... [flags]  run some
  kelpie lab all [flags]          run all that say something on the device
  kelpie lab page DIR             write DIR/FIGURES.md from DIR/results/*/*.json

Flags:
  --device NAME   cpu, gpu or simt (default: what the figure is for; without a
                  GPU that is simt). On simt costs are warp instructions.
  --scale N       how large tables are; 1 is made for a GPU
                  (default: gpu 1, cpu 0.1, simt 0.002)
  --runs N        measured runs of each query, of which the fastest counts (default 5)
  --threads N     threads per query (default: all processors)
  --out DIR       write NAME.txt, NAME.json and NAME.svg there
`

func labCommand(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("lab", flag.ContinueOnError)
	var o lab.Options
	fs.StringVar(&o.Device, "device", "", "")
	fs.Float64Var(&o.Scale, "scale", 0, "")
	fs.IntVar(&o.Runs, "runs", 0, "")
	fs.IntVar(&o.Threads, "threads", 0, "")
	out := fs.String("out", "", "")
	words, err := parseFlags(fs, args, labHelp)
	if err != nil {
		return err
	}
	switch {
	case o.Scale < 0 || o.Scale > 1000:
		return usagef("--scale %g: it must be more than 0 and at most 1000", o.Scale)
	case o.Runs < 0 || o.Threads < 0:
		return usagef("--runs and --threads must be 1 or more")
	case o.Device != "" && !slices.Contains([]string{"cpu", "gpu", "simt"}, o.Device):
		return usagef("--device %s: figures run on cpu, gpu or simt", o.Device)
	case len(words) == 0:
		return usagef("lab needs a command: kelpie lab list, run, all or page")
	}
	var figures []lab.Figure
	switch words[0] {
	case "list":
		listFigures()
		return nil
	case "page":
		if len(words) != 2 {
			return usagef("lab page needs a folder: kelpie lab page DIR")
		}
		return lab.Page(words[1])
	case "run":
		for _, name := range words[1:] {
			f, err := lab.Find(name)
			if err != nil {
				return usageError{err}
			}
			figures = append(figures, f)
		}
		if len(figures) == 0 {
			return usagef("lab run needs the name of a figure; kelpie lab list names them")
		}
	case "all":
		for _, f := range lab.Figures() {
			if o.Device == "" || slices.Contains(f.Devices, o.Device) {
				figures = append(figures, f)
			}
		}
	default:
		return usagef("lab has no command %q: list, run, all or page", words[0])
	}
	o = o.Shared()
	var failed []error
	for _, f := range figures {
		opt := o
		if opt.Device == "" {
			opt.Device = lab.Suited(f)
		}
		r, err := lab.Run(ctx, f, opt)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && words[0] == "run":
			return err
		case err != nil: // the others may well run
			fmt.Fprintf(os.Stderr, "%v\n", err)
			failed = append(failed, err)
			continue
		}
		fmt.Println(r.Text())
		if *out != "" {
			if err := r.Write(*out); err != nil {
				return err
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d figures failed: %w", len(failed), len(figures), errors.Join(failed...))
	}
	return nil
}

// listFigures prints a line for each figure.
func listFigures() {
	for _, f := range lab.Figures() {
		fmt.Printf("%-14s %-32s %-46s %s\n", f.Name, f.Paper, f.Title, strings.Join(f.Devices, ", "))
	}
}
