package session

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// The JSON document of EXPLAIN (FORMAT json). Keys come in the order of the fields.

type jsonExplain struct {
	Statement string         `json:"statement,omitempty"`
	Plan      any            `json:"plan,omitempty"`
	Pipelines []jsonPipeline `json:"pipelines,omitempty"`
	IR        []code         `json:"ir,omitempty"`
	X64       []code         `json:"x64,omitempty"`
	PTX       []code         `json:"ptx,omitempty"`
	Device    *jsonDevice    `json:"device,omitempty"`
	Optimizer []jsonPass     `json:"optimizer,omitempty"`
	Summary   *jsonSummary   `json:"summary,omitempty"`
}

type jsonPipeline struct {
	Name   string     `json:"name"`
	After  []string   `json:"after"`
	Source jsonPart   `json:"source"`
	Ops    []jsonPart `json:"operators"`
	Sink   jsonPart   `json:"sink"`
	How    string     `json:"how,omitempty"` // what was decided
	// With ANALYZE.
	Stats *jsonPipelineStats `json:"stats,omitempty"`
}

type jsonPart struct {
	Kind   string     `json:"kind"`
	Text   string     `json:"text"`
	More   []string   `json:"more,omitempty"`
	ID     int        `json:"id,omitempty"`   // of the plan's operator
	Rows   float64    `json:"rows,omitempty"` // estimate
	Actual *int64     `json:"actual_rows,omitempty"`
	MS     *float64   `json:"sampled_ms,omitempty"`
	Note   string     `json:"note,omitempty"`  // sinks, with ANALYZE
	Lanes  *jsonLanes `json:"lanes,omitempty"` // with LANES
}

type jsonPipelineStats struct {
	ExecuteMS *float64 `json:"execute_ms,omitempty"`
	FinishMS  *float64 `json:"finish_ms,omitempty"`
	CompileMS *float64 `json:"compile_ms,omitempty"`
	Morsels   int64    `json:"morsels"`
	Variants  int      `json:"variants"`
	RowsIn    int64    `json:"rows_in"`
	Skipped   int64    `json:"skipped_rows"`
	Idle      bool     `json:"not_run,omitempty"`
	// On a GPU.
	Launches     int64   `json:"launches,omitempty"`
	LaneActivity float64 `json:"lane_activity,omitempty"`
	BytesRead    uint64  `json:"bytes_read,omitempty"`
	BytesWritten uint64  `json:"bytes_written,omitempty"`
	Divergences  uint64  `json:"divergences,omitempty"`
	// On a GPU with memory of its own.
	KernelMS    *float64   `json:"kernel_ms,omitempty"`
	TransferMS  *float64   `json:"transfer_ms,omitempty"`
	BusIn       int64      `json:"bytes_to_device,omitempty"`
	BusOut      int64      `json:"bytes_from_device,omitempty"`
	ColumnBytes int64      `json:"column_bytes,omitempty"`
	Moved       *jsonMoved `json:"moved,omitempty"`
	Needs       *jsonNeeds `json:"kernel,omitempty"`
	// By CPU and GPU together.
	Shared *jsonShared `json:"shared,omitempty"`
}

// jsonShared is who did which rows of a pipeline, and when, from its beginning on.
type jsonShared struct {
	CPU    int64       `json:"cpu_rows"`
	GPU    int64       `json:"gpu_rows"`
	Chunks int         `json:"gpu_chunks"`
	Why    string      `json:"gave_up,omitempty"`
	Ranges []jsonRange `json:"ranges,omitempty"`
}

type jsonRange struct {
	By     string  `json:"by"`
	Lo     int64   `json:"from_row"`
	Hi     int64   `json:"to_row"`
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
}

// sharedOf tells of a pipeline that two processors shared; nil: one did it alone.
func sharedOf(st *exec.PipelineStats, timing bool) *jsonShared {
	s := &st.Shared
	if s.CPU+s.GPU == 0 {
		return nil
	}
	out := &jsonShared{CPU: s.CPU, GPU: s.GPU, Chunks: s.Chunks, Why: s.Why}
	for _, r := range st.Ranges {
		if timing {
			by := "cpu"
			if r.GPU {
				by = "gpu"
			}
			out.Ranges = append(out.Ranges, jsonRange{by, r.Lo, r.Hi, *millis(r.From), *millis(r.To)})
		}
	}
	return out
}

// jsonNeeds is what the kernel of a pipeline, or of its last stage, takes of a multiprocessor.
type jsonNeeds struct {
	Registers int     `json:"registers"`
	Estimated bool    `json:"estimated"`
	Shared    int     `json:"shared_bytes_per_block"`
	Code      int     `json:"instructions"`
	Occupancy float64 `json:"occupancy"`
}

// needsOf is nil for a pipeline without a launch.
func needsOf(st *exec.PipelineStats) *jsonNeeds {
	n := st.Device.Needs
	if n.Most == 0 {
		return nil
	}
	return &jsonNeeds{n.Registers, n.Estimated, n.Shared, n.Code, n.Occupancy()}
}

// jsonDevice is the device that was chosen, with expected times.
type jsonDevice struct {
	Name   string   `json:"name"`
	Why    string   `json:"why"`
	CPUMS  *float64 `json:"cpu_ms,omitempty"`
	GPUMS  *float64 `json:"gpu_ms,omitempty"`
	OnceMS *float64 `json:"gpu_once_ms,omitempty"`
}

type jsonPass struct {
	Name string  `json:"pass"`
	MS   float64 `json:"ms"`
}

type jsonSummary struct {
	Rows       int64      `json:"rows"`
	ParseMS    *float64   `json:"parse_ms,omitempty"`
	PlanMS     *float64   `json:"plan_ms,omitempty"`
	CompileMS  *float64   `json:"compile_ms,omitempty"`
	ExecuteMS  *float64   `json:"execute_ms,omitempty"`
	TotalMS    *float64   `json:"total_ms,omitempty"`
	PeakMemory int64      `json:"peak_memory_bytes"`
	DevicePeak int64      `json:"peak_device_bytes,omitempty"` // beside columns
	Threads    int        `json:"threads"`
	Moved      *jsonMoved `json:"moved,omitempty"`
}

// document is the explanation as JSON.
func (x *explanation) document() (string, error) {
	doc := jsonExplain{Statement: x.note}
	if x.forms["plan"] {
		doc.Plan = plan.JSONValue(x.prog.Query, x.rowsOf)
	}
	if x.forms["pipelines"] {
		how := x.decisions()
		for i, t := range pipe.Describe(x.prog) {
			p := x.jsonPipeline(t, i)
			p.How = how[i]
			doc.Pipelines = append(doc.Pipelines, p)
		}
	}
	if x.forms["ir"] {
		doc.IR = x.code("ir")
	}
	if x.forms["x64"] {
		doc.X64 = x.code("x64")
	}
	if x.forms["ptx"] {
		doc.PTX = x.code("ptx")
	}
	switch p := x.set.placed; {
	case x.refused != "":
		doc.Device = &jsonDevice{Name: "cpu", Why: x.refused}
	case p != nil:
		doc.Device = &jsonDevice{Name: x.set.Device, Why: p.Why, CPUMS: millis(p.CPU)}
		if p.Hot > 0 {
			doc.Device.GPUMS, doc.Device.OnceMS = millis(p.Hot), millis(p.Once)
		}
	}
	if x.verbose {
		for _, p := range x.passes {
			doc.Optimizer = append(doc.Optimizer, jsonPass{p.Name, *millis(p.Time)})
		}
	}
	if x.stats != nil && x.summary {
		s := &jsonSummary{Rows: x.rows, PeakMemory: x.stats.PeakMemory, DevicePeak: x.stats.DevicePeak, Threads: x.set.Threads}
		if x.explainOptions.timing {
			t := x.timing
			s.ParseMS, s.PlanMS, s.CompileMS, s.ExecuteMS, s.TotalMS =
				millis(t.Parse), millis(t.Plan), millis(t.Compile), millis(t.Exec), millis(t.Total())
		}
		if m, ok := x.stats.Movement(); ok {
			s.Moved = x.jsonMoved(m, 0)
		}
		doc.Summary = s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a < b should read so
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return "", err
	}
	return string(bytes.TrimRight(b.Bytes(), "\n")), nil
}

func (x *explanation) jsonPipeline(t *pipe.Text, i int) jsonPipeline {
	out := jsonPipeline{Name: t.Pipeline.Name(), After: []string{}, Ops: []jsonPart{}}
	for _, id := range t.After {
		out.After = append(out.After, x.prog.Pipelines[id].Name())
	}
	out.Source = x.jsonPart(t, i, -1)
	for k := range t.Ops {
		out.Ops = append(out.Ops, x.jsonPart(t, i, k))
	}
	out.Sink = x.jsonPart(t, i, len(t.Ops))
	if x.stats != nil {
		st := &x.stats.Pipelines[i]
		out.Stats = &jsonPipelineStats{Morsels: st.Morsels, Variants: st.Variants, RowsIn: st.RowsIn, Skipped: st.SkippedRows, Idle: st.Idle, Shared: sharedOf(st, x.explainOptions.timing)}
		if l := &st.Lanes; st.Launches > 0 {
			out.Stats.Launches, out.Stats.LaneActivity, out.Stats.Divergences = st.Launches, l.Activity(), l.Divergences
			out.Stats.BytesRead, out.Stats.BytesWritten = l.SectorsRead*sectorBytes, l.SectorsWritten*sectorBytes
		}
		if d := &st.Device; *d != (exec.DeviceStats{}) {
			out.Stats.BusIn, out.Stats.BusOut, out.Stats.ColumnBytes = d.Up, d.Down, d.Columns
			out.Stats.Moved = x.jsonMoved(d.Movement(), d.Reckoned)
			out.Stats.Needs = needsOf(st)
			if x.explainOptions.timing {
				out.Stats.KernelMS, out.Stats.TransferMS = millis(d.Kernel), millis(d.Copies+d.Carry)
			}
		}
		if x.explainOptions.timing {
			out.Stats.ExecuteMS, out.Stats.FinishMS, out.Stats.CompileMS = millis(st.Exec), millis(st.Finish), millis(st.Compile)
		}
	}
	return out
}

func (x *explanation) jsonPart(t *pipe.Text, i, k int) jsonPart {
	p := t.At(k)
	out := jsonPart{Kind: p.Kind, Text: p.What, More: p.More}
	if p.Node != nil {
		out.ID, out.Rows = p.Node.Props().ID, p.Node.Props().Rows
	}
	if x.stats == nil {
		return out
	}
	st := &x.stats.Pipelines[i]
	if d, ok := st.OpTime[k]; ok {
		out.MS = millis(d)
	}
	if k == len(t.Ops) {
		out.Note = st.Note
	} else {
		rows := st.OpRows[k]
		out.Actual = &rows
		out.Lanes = jsonLanesOf(st.OpLanes[k])
	}
	return out
}

// millis is a duration in milliseconds, to the microsecond.
func millis(d time.Duration) *float64 {
	f := float64(d.Microseconds()) / 1000
	return &f
}
