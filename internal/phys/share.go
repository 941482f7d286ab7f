package phys

import (
	"fmt"
	"strconv"

	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Share is whether a CPU and a GPU take ranges of the same pipeline: the CPU from the table's beginning on, the GPU from its end.
type Share struct {
	Mode ShareMode
	Part int // of ShareFixed: the percentage of the table's rows that the GPU takes
}

// ShareMode is how a pipeline's rows are divided.
type ShareMode uint8

const (
	ShareAuto  ShareMode = iota // where it pays, as they come
	ShareOff                    // one processor takes all
	ShareOn                     // as they come: who is faster takes more
	ShareFixed                  // by percentage, for experiments
)

var shareNames = []string{"auto", "off", "on"}

func (x Share) String() string {
	if x.Mode == ShareFixed {
		return strconv.Itoa(x.Part)
	}
	return shareNames[x.Mode]
}

// ParseShare finds a way by its name, or takes a percentage.
func ParseShare(name string) (Share, error) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n > 100 {
			return Share{}, fmt.Errorf("%d is no percentage from 0 to 100", n)
		}
		return Share{ShareFixed, n}, nil
	}
	m, err := parseChoice[ShareMode](name, shareNames)
	return Share{Mode: m}, err
}

// MayShare reports that partial results of a pipeline can be merged, whoever made them: it groups rows of a table. What it looks up on the way each processor has for itself, so
// that nothing may be noted there for later pipelines.
func MayShare(p *pipe.Pipeline) bool {
	if _, ok := p.Source.(*pipe.Table); !ok || len(p.Stages) > 0 || p.Loop != nil {
		return false
	}
	if _, ok := p.Sink.(*pipe.Aggregate); !ok {
		return false
	}
	for _, op := range p.Ops {
		switch op := op.(type) {
		case *pipe.Filter, *pipe.Map, *pipe.Rename, *pipe.Nulls:
		case *pipe.Probe:
			if op.SetFlag {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// worthSharing is how many bytes must come over the bus for two processors to be better than one: what the second one needs to begin and to
// bring its groups back takes as long as several megabytes.
const worthSharing = 64 << 20

// mostOthers is the part of all rows that may be in tables which are not shared: the CPU has to scan these alone, while the GPU does so as well.
const mostOthers = 0.1

// FewOthers reports that so few rows are in tables which are not shared that the largest one counts.
func FewOthers(part float64) bool { return part <= mostOthers }

// WorthSharing decides whether a program's scans are shared of which so many bytes would have to come to the GPU: columns that are there it reads
// faster than any CPU. others is the part of all rows that is in tables which are not shared.
func WorthSharing(streamed int64, others float64) bool {
	return streamed >= worthSharing && FewOthers(others)
}

// Shared is who did how much of a pipeline that two processors shared.
type Shared struct {
	CPU, GPU int64  // rows of the table
	Chunks   int    // in which the GPU took its own
	Why      string // the CPU had to do all: what the GPU failed at
}

func (s Shared) String() string {
	if s.CPU+s.GPU == 0 {
		return ""
	}
	text := fmt.Sprintf("shared: cpu %d rows, gpu %d rows in %s", s.CPU, s.GPU, plural(s.Chunks, "chunk"))
	if s.Why != "" {
		text += "; " + s.Why
	}
	return text
}
