package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// accelerator is a GPU that a database's queries may use, taken into use by the first that wants it.
type accelerator struct {
	simulated bool
	mu        sync.Mutex
	store     *gpu.Store
	err       error // why there is none
}

// simulatedMemory is what a simulated GPU has: as the real ones, of which the host's memory only holds what is used.
const simulatedMemory = 64 << 30

func (a *accelerator) open() (*gpu.Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store == nil && a.err == nil {
		var dev device.Device
		if a.simulated {
			dev = device.NewSimulated(device.SimulatedOptions{Memory: simulatedMemory})
		} else if dev, a.err = device.OpenGPU(); a.err != nil {
			return nil, a.err
		}
		a.store = gpu.NewStore(dev, 0)
	}
	return a.store, a.err
}

// opened is the device, if it is in use already.
func (a *accelerator) opened() *gpu.Store {
	if !a.mu.TryLock() { // somebody is opening it
		return nil
	}
	defer a.mu.Unlock()
	return a.store
}

// Prepare begins to take a device into use, beside whatever comes before the first query that wants it: a driver needs a third of a second to begin.
// What fails is told to that query.
func (db *DB) Prepare(name string) {
	if name == "gpu" || name == "auto" {
		go func() { _, _ = db.gpu.open() }()
	}
}

// Rest ends what is done behind queries.
func (db *DB) Rest() {
	for _, a := range []*accelerator{&db.gpu, &db.simt} {
		if s := a.opened(); s != nil {
			s.Rest()
		}
	}
}

// GPUBytes is what columns and dictionaries take in a GPU's memory now.
func (db *DB) GPUBytes() int64 {
	db.gpu.mu.Lock()
	defer db.gpu.mu.Unlock()
	if db.gpu.store == nil {
		return 0
	}
	return db.gpu.store.Bytes()
}

// GPUColumns lists the columns in a GPU's memory, the largest first.
func (db *DB) GPUColumns() []gpu.ColumnUse {
	if s := db.gpu.known(); s != nil {
		return s.Columns()
	}
	return nil
}

// accelerator is the GPU of a name.
func (db *DB) accelerator(name string) *accelerator {
	if name == "simt" {
		return &db.simt
	}
	return &db.gpu
}

// Accelerate gives the database a device.
func (db *DB) Accelerate(s *gpu.Store) {
	db.gpu.mu.Lock()
	defer db.gpu.mu.Unlock()
	db.gpu.store, db.gpu.err = s, nil
}

// known is its store; nil: it is not in use yet.
func (a *accelerator) known() *gpu.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store
}

// placed is the device that was chosen for a query, and what was known then.
type placed struct {
	phys.Place
	store     *gpu.Store // nil: no GPU was asked for
	prospects gpu.Prospects
}

// madeInGo tells of an operation for which there is no code.
func madeInGo(c *plan.Call) bool { return !scalar.CanEmit(c) }

// place settles where a query runs, if the settings leave it open.
func (s *Session) place(prog *pipe.Program, set *Settings) {
	if set.Device != "cpu" {
		gpu.Identify(prog)
	}
	if set.Device != "auto" {
		return
	}
	p := &placed{}
	facts := func() phys.Accelerator {
		store, err := s.DB.gpu.open()
		if err != nil {
			return phys.Accelerator{Missing: message(err)}
		}
		p.store, p.prospects = store, store.Prospects(prog)
		x := &p.prospects
		room := store.Limit(set.GPUMemory)
		return phys.Accelerator{Missing: x.Refused, Bandwidth: store.Info().Bandwidth, Room: room, Bytes: x.Bytes, Absent: x.Absent, Files: x.Files,
			Compiled: x.Compiled, Missed: x.Missed, Free: room - x.Held, Behind: x.Behind && s.mayWarm(prog, set)}
	}
	if set.placed, set.Device = p, "cpu"; device.HasCPU() {
		var known phys.Known
		if !set.Off.History {
			known = s.DB.history.Known(prog.Shape)
		}
		if p.Place = phys.ChoosePlace(phys.WorkOf(prog, madeInGo), set.Threads, known, facts); p.GPU {
			set.Device = "gpu"
		}
		return
	}
	// Without a translator for the processor, a slow GPU is better than a simulated one.
	set.Device = "simt"
	if why := facts().Missing; why == "" {
		p.GPU, p.Why, set.Device = true, "there is no translator for this machine's processor", "gpu"
	} else {
		p.Why = why
	}
}

// mayWarm reports that what a GPU lacks for a program may be made ready behind queries.
func (s *Session) mayWarm(prog *pipe.Program, set *Settings) bool {
	return !set.Off.Warming && set.Feed.Keeps() && set.GPUCode == exec.CodeKept && !set.Fuse.InPasses() && plan.Repeatable(prog.Query)
}

// runProgram runs a program where the settings say. What a GPU cannot do, or has failed to do, the CPU does: nobody has seen
// a row yet.
func (s *Session) runProgram(ctx context.Context, prog *pipe.Program, set *Settings, opts exec.Options) (*result.Result, *exec.Stats, error) {
	opts.Device = set.Device
	if p := set.placed; p != nil && p.Missed > 0 {
		p.store.Miss(&p.prospects, p.Missed)
	}
	start := time.Now()
	ran := func(onGPU bool, expected time.Duration) {
		if opts.Deliver == nil && !opts.Count { // else it took as long as who took its rows, or counted them
			s.DB.history.Ran(prog.Shape, onGPU, expected, time.Since(start))
		}
	}
	if opts.Device == "cpu" {
		res, stats, err := exec.Run(ctx, prog, opts)
		if p := set.placed; err == nil && p != nil {
			ran(false, p.GuessCPU)
			if p.Warm {
				opts.Device = "gpu"
				p.store.Warm(prog, opts)
			}
		}
		return res, stats, err
	}
	if s.share(prog, set, &opts) {
		return s.runShared(ctx, prog, opts)
	}
	opts.Last = opts.Device == defaultDevice()
	store, err := s.DB.accelerator(opts.Device).open()
	if err == nil {
		var res *result.Result
		var stats *exec.Stats
		if res, stats, err = gpu.Run(ctx, prog, store, opts); err == nil {
			if p := set.placed; p != nil {
				if !p.prospects.Compiled {
					store.Ran(prog, "")
				}
				if p.Once == 0 {
					ran(true, p.GuessHot)
				}
			}
			return res, stats, nil
		}
	}
	var dev *device.Error
	lacks := diag.CodeOf(err) == diag.FeatureNotSupported
	if !lacks && !errors.As(err, &dev) {
		return nil, nil, err
	}
	if lacks && set.placed != nil {
		store.Ran(prog, message(err))
	}
	if opts.Last {
		return nil, nil, err
	}
	if opts.Device = defaultDevice(); opts.Device == "cpu" {
		diag.Notice(ctx, "the query runs on the CPU: %s", message(err))
		return exec.Run(ctx, prog, opts)
	}
	diag.Notice(ctx, "the query runs on a simulated GPU: %s", message(err))
	if store, err = s.DB.simt.open(); err != nil {
		return nil, nil, err
	}
	opts.Last = true
	return gpu.Run(ctx, prog, store, opts)
}

// message is an error's text without its code, and of a missing device what is missing.
func message(err error) string {
	var e *diag.Error
	var dev *device.Error
	switch {
	case errors.As(err, &e):
		return e.Msg
	case errors.As(err, &dev) && dev.Kind == device.Missing:
		return dev.Err.Error()
	}
	return err.Error()
}
