package session

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// share decides whether CPU and GPU run a program together, and gives the options a partner then.
func (s *Session) share(prog *pipe.Program, set *Settings, opts *exec.Options) bool {
	scans, others := exec.MayShare(prog)
	if !device.HasCPU() || opts.Lanes || len(scans) == 0 {
		return false
	}
	modes := map[phys.ShareMode]bool{}
	for _, x := range scans {
		modes[set.Share.At(x).Mode] = true
	}
	dev := s.DB.accelerator(opts.Device)
	switch {
	case set.CPUFirst != phys.CPUFirstOff && phys.FewOthers(others) && cold(dev.opened(), prog, set):
		opts.CPUFirst = !modes[phys.ShareFixed]
	case modes[phys.ShareOn] || modes[phys.ShareFixed]:
	case !modes[phys.ShareAuto]:
		return false
	default:
		store, err := dev.open()
		if err != nil || !phys.WorthSharing(streamed(store, prog, set), others) {
			return false
		}
	}
	opts.Partner = &gpu.Partner{Open: dev.open, Here: dev.opened, Opts: *opts}
	return true
}

// runShared runs a program on both processors. What the GPU lacked for it is made ready then, for queries to come.
func (s *Session) runShared(ctx context.Context, prog *pipe.Program, opts exec.Options) (*result.Result, *exec.Stats, error) {
	res, stats, err := exec.Run(ctx, prog, opts)
	if p := opts.Partner.(*gpu.Partner); opts.CPUFirst && err == nil {
		if store := p.Here(); store != nil {
			store.Warm(prog, p.Opts)
		}
	}
	return res, stats, err
}

// cold reports that a query is to begin on the CPU, by what a device, which may not be in use yet, lacks for it.
func cold(store *gpu.Store, prog *pipe.Program, set *Settings) bool {
	if store == nil {
		return true
	}
	p := store.Prospects(prog)
	return set.CPUFirst.Choose(p.Compiled && set.GPUCode == exec.CodeKept, p.Absent)
}

// streamed is how many bytes of a program's columns would come to the device and not stay there.
func streamed(store *gpu.Store, prog *pipe.Program, set *Settings) int64 {
	p := store.Prospects(prog)
	switch {
	case !set.Feed.Keeps():
		return p.Bytes
	case p.Bytes > store.Limit(set.GPUMemory):
		return p.Absent
	}
	return 0
}
