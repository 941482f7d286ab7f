package session

import (
	"context"
	"errors"
	"sync"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// accelerator is the GPU that a database's queries may use, taken into use by the first that wants it.
type accelerator struct {
	mu    sync.Mutex
	store *gpu.Store
	err   error // why there is none
}

func (a *accelerator) open() (*gpu.Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store == nil && a.err == nil {
		dev, err := device.OpenCUDA(0)
		if err != nil {
			a.err = err
			return nil, err
		}
		a.store = gpu.NewStore(dev, 0)
	}
	return a.store, a.err
}

// Accelerate gives the database a device.
func (db *DB) Accelerate(s *gpu.Store) {
	db.gpu.mu.Lock()
	defer db.gpu.mu.Unlock()
	db.gpu.store, db.gpu.err = s, nil
}

// runProgram runs a program where the settings say. What a GPU cannot do, or has failed to do, the CPU does: nobody has seen
// a row yet.
func (s *Session) runProgram(ctx context.Context, prog *pipe.Program, opts exec.Options) (*result.Result, *exec.Stats, error) {
	if opts.Device != "gpu" {
		return exec.Run(ctx, prog, opts)
	}
	store, err := s.DB.gpu.open()
	if err == nil {
		var res *result.Result
		var stats *exec.Stats
		if res, stats, err = gpu.Run(ctx, prog, store, opts); err == nil {
			return res, stats, nil
		}
	}
	var dev *device.Error
	if diag.CodeOf(err) != diag.FeatureNotSupported && !errors.As(err, &dev) {
		return nil, nil, err
	}
	diag.Notice(ctx, "the query runs on the CPU: %s", message(err))
	opts.Device = "cpu"
	return exec.Run(ctx, prog, opts)
}

// message is an error's text without its code.
func message(err error) string {
	var e *diag.Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return err.Error()
}
