package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/session"
)

// scale is the factor of all tables: enough rows for the cost of one to show beside what launches cost.
const scale = 0.01

// suite is queries and the statements that make their tables.
type suite struct {
	name    string
	setup   []string
	queries []gen.Query
}

func suites() []suite {
	call := func(name string) string { return fmt.Sprintf("call %s(sf => %v)", name, scale) }
	return []suite{
		{"tpch", []string{call("tpch")}, tpch.Queries()},
		{"ssb", []string{call("ssb")}, ssb.Queries()},
		{"more", append([]string{call("tpch")}, more.Tables(scale, more.Queries())...), slices.DeleteFunc(more.Queries(), recursive)},
	}
}

// recursive is a query that runs on the CPU whatever the device, and has no kernels.
func recursive(q gen.Query) bool { return strings.Contains(q.SQL, "with recursive") }

// recorder is a simulated GPU of some architecture that remembers what is compiled for it.
type recorder struct {
	*device.Simulated
	arch int

	mu    sync.Mutex
	seen  map[string]bool
	texts []string // in order
}

func newRecorder(arch int) *recorder {
	return &recorder{Simulated: device.NewSimulated(device.SimulatedOptions{}), arch: arch, seen: map[string]bool{}}
}

func (r *recorder) Info() device.Info {
	info := r.Simulated.Info()
	info.Arch = r.arch
	return info
}

func (r *recorder) Load(text string) device.Code {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen[text] {
		r.seen[text] = true
		r.texts = append(r.texts, text)
	}
	return r.Simulated.Load(text)
}

func (r *recorder) LoadQuick(text string) device.Code { return r.Load(text) }

// world is a database whose queries run on a recorder, with one block of threads, so that what it costs to start and end blocks
// counts once.
type world struct {
	*session.Session
	gpu *recorder
}

func newWorld(s suite, arch int) (*world, error) {
	db := session.NewDB()
	w := &world{session.New(db), newRecorder(arch)}
	for _, sql := range s.setup {
		if _, err := w.ask(sql); err != nil {
			return nil, err
		}
	}
	db.Accelerate(gpu.NewStore(w.gpu, 0))
	w.Configure(func(x *session.Settings) { x.Device, x.Grid, x.Block = "gpu", 1, 256 })
	return w, nil
}

// ask runs a statement.
func (w *world) ask(sql string) (exec.Stats, error) {
	res, err := w.Query(context.Background(), sql)
	if err != nil {
		return exec.Stats{}, err
	}
	defer res.Close()
	if said := res.Notices(); len(said) > 0 { // it did not run where it was told to
		return exec.Stats{}, errors.New(said[0])
	}
	return res.Stats, nil
}
