package phys

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Expand is how the lanes of a GPU's warp share the matches of their rows, where a row may have several.
type Expand uint8

const (
	ExpandAuto     Expand = iota // as it pays
	ExpandLane                   // each lane its own, one after the other
	ExpandGroup                  // GroupLanes lanes side by side those of one of them after the other
	ExpandWarp                   // likewise all lanes of a warp: push-down parallelism
	ExpandBalanced               // each lane the next of all rows'
)

// GroupLanes is the number of lanes that share matches by ExpandGroup.
const GroupLanes = 8

var expandNames = []string{"auto", "lane", "group", "warp", "balanced"}

func (x Expand) String() string { return expandNames[x] }

// ParseExpand finds a way by its name.
func ParseExpand(name string) (Expand, error) { return parseChoice[Expand](name, expandNames) }

// parseChoice finds the value of a switch by its name.
func parseChoice[T ~uint8](name string, names []string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
}

// Matches is what is known of the candidates that rows find in a table.
type Matches struct {
	Table *layout.Table
	Walks bool    // a row may have to look at several
	Share float64 // of rows that have some, estimated
	Wish  Expand  // somebody wants it so
}

// ExpectedMatches is what a probe will find in a finished table. sifted: rows without match were dropped before.
func ExpectedMatches(p *pipe.Probe, t *layout.Table, sifted bool, wish Expand) Matches {
	m := Matches{Table: t, Share: 1, Wish: wish}
	switch p.Kind {
	case pipe.ProbeInner, pipe.ProbeOuter:
		m.Walks = true
		side := p.Join.Left
		if p.Join.BuildLeft {
			side = p.Join.Right
		}
		if t.Runs.Keys > 0 && !sifted {
			each := float64(Expected(p.Join)) / float64(Expected(side))
			m.Share = min(each*float64(t.Runs.Keys)/float64(max(t.Rows, 1)), 1)
		}
	case pipe.ProbeSemi, pipe.ProbeAnti, pipe.ProbeMark:
		// The first candidate is a match, unless there are others in its bucket, or conditions beside the key.
		m.Walks = t.Kind == layout.Buckets || len(p.On) > 0
	}
	return m
}

// worthBalance is how many times as many rounds lanes must need for their own candidates as for those of all, if sharing them is to
// pay: it costs shuffles of all that a row has. Measured on an H200, even 1 to 8 matches, 1.8 times as many, are better left to their
// lanes, and 1 to 29 for two rows of three, 2.9 times as many, are not.
const worthBalance = 2.2

// worthGroup is the share of rows with candidates up to which groups of lanes have one such row at a time, at the most, on average. If that has no more candidates than
// the group has lanes, they need one round, and nothing has to be added up before: on an H200, 1 to 7 matches of every twelfth row take 0.6 to 0.9 of the time that balancing takes.
const worthGroup = 1.0 / GroupLanes

// ChooseExpand decides how lanes share candidates.
func ChooseExpand(m Matches) Expand {
	runs := m.Table.Runs
	switch {
	case m.Table.Kind.Unique() || !m.Walks:
		return ExpandLane
	case m.Wish != ExpandAuto:
		return m.Wish
	case runs.Keys == 0: // nobody has counted
		return ExpandLane
	}
	mean := float64(m.Table.Rows) / float64(runs.Keys)
	spread := math.Sqrt(max(runs.Squares/float64(runs.Keys)-mean*mean, 0))
	// A warp that leaves candidates to their lanes waits for the lane that has most of them.
	alone := min(mean+2*spread, float64(runs.Longest))
	switch {
	case alone <= worthBalance*max(mean*m.Share, 1):
		return ExpandLane
	case runs.Longest <= GroupLanes && m.Share <= worthGroup:
		return ExpandGroup
	}
	return ExpandBalanced
}

// Queue is for rows that have so many candidates that their warp would still be at work when all others have ended: they are cut into
// pieces, which a second kernel takes.
type Queue struct {
	Op    int   // the number of the probe whose rows they are, from 1 on; 0: there is no queue
	Heavy int64 // rows with more candidates go to the queue
	Piece int64 // candidates of a piece
	Room  int64 // pieces in the queue
}

// usualQueue takes what would keep a warp for 64 rounds. Its 24 MB have room for 268 million matches.
var usualQueue = Queue{Heavy: 2048, Piece: 256, Room: 1 << 20}

// ChooseQueue decides whether there is a queue for the rows of operator i, for which lanes share matches in a way. alone: a row of the
// source has come there at most once. own: somebody wants it like this; nil: nobody does.
func ChooseQueue(i int, kind pipe.ProbeKind, t *layout.Table, how Expand, alone bool, own *Queue) Queue {
	q := usualQueue
	if own != nil {
		q = *own
	}
	// Whether a row of an outer join has a match at all, no piece can tell.
	if kind != pipe.ProbeInner || t.Kind.Unique() || how == ExpandLane || !alone || t.Runs.Longest <= q.Heavy {
		return Queue{}
	}
	q.Op = i + 1
	return q
}

// Probe is a table in which rows are looked up, and how matches are shared; 0: there is nothing to share.
type Probe struct {
	Kind   layout.TableKind
	Expand Expand
	Queue  int64 // rows with more matches go to a queue; 0: none does
}

func (p Probe) String() string {
	if p.Expand == ExpandAuto || p.Expand == ExpandLane {
		return p.Kind.String()
	}
	text := p.Kind.String() + " (" + p.Expand.String()
	if p.Queue > 0 {
		text += fmt.Sprintf(", over %d in a queue", p.Queue)
	}
	return text + ")"
}
