package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Direct is the result of a query that only picks columns, which a Reader copies from the table's segments; nil if it does more, or if
// somebody wants to see it run.
func Direct(prog *pipe.Program, o *Options) *result.Table {
	if o.Off.DirectScan || o.Count || o.Profile || o.Listing {
		return nil
	}
	d := phys.ChooseDirect(prog)
	if d.Scan == nil {
		return nil
	}
	return result.NewTable(d.Scan.Snap, d.Ordinal, prog.Result.Offset, prog.Result.Limit)
}

// tableResult makes the result of rows of a table: those of files are loaded, unless who reads the result does so part by
// part.
func (r *run) tableResult(t *result.Table, o result.Owned) (*result.Result, error) {
	o.Keep = append(r.keep, r.prog)
	switch s := r.prog.Result; {
	case t.Stream != nil && r.Parts && s.Offset == 0 && s.Limit < 0:
		return result.OfStream(o, t), nil
	case t.Stream != nil:
		if err := r.begin(t.Stream); err != nil {
			return nil, err
		}
		if err := t.ReadAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	case !r.Parts:
		if err := t.LoadAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	}
	return result.OfTable(o, t, r.Parts && t.Stream == nil), nil
}
