package session

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// partner is the GPU that shares a program's scans with the CPU; nil: it does not.
func (s *Session) partner(prog *pipe.Program, set *Settings, opts exec.Options) exec.Partner {
	if !device.HasCPU() || opts.Lanes || set.Share.Mode == phys.ShareOff || !exec.MayShare(prog) {
		return nil
	}
	open := s.DB.accelerator(opts.Device).open
	if set.Share.Mode == phys.ShareAuto {
		store, err := open()
		if err != nil || !phys.WorthSharing(streamed(store, prog, set)) {
			return nil
		}
	}
	return &gpu.Partner{Open: open, Opts: opts}
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
