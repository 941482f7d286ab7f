package pipe

import (
	"github.com/kelpiedb/kelpie/internal/plan"
)

// join closes the build side's pipelines in a Build and lets the probe side's go on
// through a Probe. Which tuples need a second look afterwards (outer rows without a match,
// semi joins that hash their left side) is decided here too.
func (c *cutter) join(j *plan.Join, need plan.ColSet) ([]*Pipeline, error) {
	all := refs(need, j.LKeys, j.RKeys, j.On)
	build, probe, bkeys, pkeys := j.Right, j.Left, j.RKeys, j.LKeys
	if j.BuildLeft {
		build, probe, bkeys, pkeys = j.Left, j.Right, j.LKeys, j.RKeys
	}

	b := &Build{Join: j, Keys: bkeys, NullSafe: j.NullSafe}
	c.builds[j] = b
	keep := j.BuildLeft && j.Kind != plan.Inner || j.Kind == plan.Full // tuples are looked at after probing
	b.Flag, b.KeepNull = keep, keep
	b.WantNull = j.Kind == plan.Mark

	above := refs(need, j.On)
	produced := plan.Produced(build)
	seen := plan.MakeColSet()
	for _, k := range bkeys {
		id := c.q.Cols.New("", k.Type(), false)
		if r, ok := k.(*plan.Ref); ok {
			id = r.ID
		}
		b.KeyCols = append(b.KeyCols, id)
		seen.Add(id)
	}
	for id := range above.All {
		if produced.Has(id) && !seen.Has(id) {
			b.Payload = append(b.Payload, id)
		}
	}
	bps, err := c.open(build, all)
	if err != nil {
		return nil, err
	}
	b.makers = bps
	b.ID = c.close(bps, b)

	gates := c.gates
	if j.Gate {
		c.gates = append(c.gates[:len(c.gates):len(c.gates)], b)
	}
	ps, err := c.open(probe, all)
	c.gates = gates
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		p.needs = append(p.needs[:len(p.needs):len(p.needs)], bps...)
	}
	pr := &Probe{Build: b, Keys: pkeys, NullSafe: j.NullSafe, On: j.On, SetFlag: keep, Mark: j.MarkCol, Join: j}

	// The build side's rows again, after all probing, by their match flag.
	again := func(f FlagTest) *Pipeline {
		return &Pipeline{Source: &Buffer{Of: b, Flag: f, Node: j}, needs: ps}
	}
	nulls := func(side plan.Node) *Nulls {
		n := &Nulls{}
		prod := plan.Produced(side)
		for id := range need.All {
			if prod.Has(id) {
				n.Cols = append(n.Cols, id)
			}
		}
		return n
	}

	if j.BuildLeft && (j.Kind == plan.Semi || j.Kind == plan.Anti) {
		d := &Discard{}
		c.add(ps, pr)
		d.ID = c.close(ps, d)
		if j.Kind == plan.Semi {
			return []*Pipeline{again(Matched)}, nil
		}
		return []*Pipeline{again(Unmatched)}, nil
	}
	switch j.Kind {
	case plan.Left:
		if j.BuildLeft {
			rest := again(Unmatched)
			rest.Ops = append(rest.Ops, nulls(probe))
			return append(c.add(ps, pr), rest), nil
		}
		pr.Kind = ProbeOuter
	case plan.Full:
		pr.Kind = ProbeOuter
		rest := again(Unmatched)
		rest.Ops = append(rest.Ops, nulls(probe))
		return append(c.add(ps, pr), rest), nil
	case plan.Semi:
		pr.Kind = ProbeSemi
	case plan.Anti:
		pr.Kind = ProbeAnti
	case plan.Mark:
		pr.Kind = ProbeMark
	case plan.Single:
		pr.Kind = ProbeSingle
	}
	return c.add(ps, pr), nil
}
