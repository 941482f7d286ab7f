package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/internal/session"
)

// Figure is an experiment.
type Figure struct {
	Name    string // as kelpie lab run takes it
	Paper   string // where it is from
	Title   string
	Devices []string // on which it says something; the first is what it is for
	run     func(b *bench, r *Result) error
}

// Figures are all, paper by paper.
func Figures() []Figure {
	return slices.Concat(flounder, horseQC, dogQC, coprocessing, sharing, redFox, kernelWeaver, asked)
}

// Find is the figure of a name.
func Find(name string) (Figure, error) {
	for _, f := range Figures() {
		if f.Name == name {
			return f, nil
		}
	}
	return Figure{}, fmt.Errorf("there is no figure %q; kelpie lab list names them", name)
}

// Options say where and how large.
type Options struct {
	Device  string
	Scale   float64 // of the rows: 1 is made for a GPU; 0: what suits the device
	Runs    int     // of which the fastest counts; 0: what suits the device
	Threads int
	// Log, if not nil, is told what is being done.
	Log func(string)
	db  *session.DB // that several figures share; nil: each has its own
}

// Shared lets figures that are run with these options have one database, whose device is opened once.
func (o Options) Shared() Options {
	o.db = session.NewDB()
	return o
}

// suits fills in what was not said.
func (o Options) suits() Options {
	if o.Scale == 0 {
		o.Scale = map[string]float64{"simt": 0.002, "cpu": 0.1}[o.Device]
		if o.Scale == 0 {
			o.Scale = 1
		}
	}
	if o.Runs == 0 {
		o.Runs = 5
	}
	if o.Device == "simt" { // counts are the same each time
		o.Runs = 1
	}
	return o
}

// Run runs a figure.
func Run(ctx context.Context, f Figure, o Options) (*Result, error) {
	if !slices.Contains(f.Devices, o.Device) {
		return nil, fmt.Errorf("%s says nothing on %s; it is for %v", f.Name, o.Device, f.Devices)
	}
	o = o.suits()
	r := &Result{Figure: f.Name, Paper: f.Paper, Title: f.Title, Device: o.Device, Scale: o.Scale}
	b, err := newBench(ctx, o, r)
	if err != nil {
		return nil, err
	}
	if err := f.run(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return r, nil
}

// onGPUs are the devices that have lanes.
var onGPUs = []string{"gpu", "simt"}

// Suited is the device that a figure is for: of those that are here, the first of its own.
func Suited(f Figure) string {
	for _, d := range f.Devices {
		if _, err := where(d); err == nil {
			return d
		}
	}
	return f.Devices[0]
}
