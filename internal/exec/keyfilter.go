package exec

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// scanFilters makes the semi-join filters that are ready and promise to drop rows.
func (j *job) scanFilters(t *pipe.Table, req *emit.Request) error {
	if j.r.Off.SemiJoins {
		return nil
	}
	start := time.Now()
	defer func() { j.r.filtering += time.Since(start) }()
	for _, rd := range t.Reduce {
		b, ok := j.r.sinks[rd.Build].(*buildSink)
		if !ok || b.built == nil || !phys.CanReduce(t, rd, b.tuple) {
			continue
		}
		set, err := b.built.Set(rd.Key)
		if err != nil {
			return err
		}
		sf := scanned.Filter{Col: rd.Col, Range: set.Range, Kind: set.Kind, Bits: set.Bits, Index: len(j.filters),
			Build: rd.Build, Key: rd.Key}
		if _, worth := phys.WorthReducing(set.Count, t.Scan, rd.Col); !worth {
			continue
		}
		if err := set.Fill(); err != nil {
			return err
		}
		// Only what was counted is known exactly.
		var worth bool
		if sf.Share, worth = phys.WorthReducing(set.Count, t.Scan, rd.Col); !worth {
			continue
		}
		j.filters = append(j.filters, set.Addr)
		req.Filters = append(req.Filters, sf)
	}
	return nil
}
