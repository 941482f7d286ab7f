package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// lines is the explanation as text, a row of the result for each line.
func (x *explanation) lines() []string {
	var parts []string
	if x.note != "" {
		parts = append(parts, x.note)
	}
	asked := 0
	for _, on := range x.forms {
		if on {
			asked++
		}
	}
	for _, form := range explainForms {
		if !x.forms[form] {
			continue
		}
		text := x.form(form)
		if asked > 1 {
			text = "-- " + form + "\n" + text
		}
		parts = append(parts, text)
	}
	if x.lanes {
		parts = append(parts, "-- lanes\n"+x.lanesText())
	}
	switch p := x.set.placed; {
	case x.refused != "":
		parts = append(parts, "device cpu: "+x.refused)
	case p != nil:
		parts = append(parts, "device "+p.String())
	}
	if s := x.summaryText(); s != "" {
		parts = append(parts, s)
	}
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n")
	}
	return strings.Split(strings.Join(parts, "\n\n"), "\n")
}

// form is one stage as text.
func (x *explanation) form(form string) string {
	switch form {
	case "plan":
		return plan.FormatWith(x.prog.Query, x.planNote)
	case "pipelines":
		return x.pipelines()
	}
	var parts []string
	for _, c := range x.code(form) {
		if c.Error != "" {
			mark := map[string]string{"ir": ";", "x64": ";", "ptx": "//"}[form]
			parts = append(parts, fmt.Sprintf("%s %s: %s", mark, c.Pipeline, c.Error))
			continue
		}
		parts = append(parts, strings.TrimRight(c.Text, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// planNote stands behind an operator of the plan.
func (x *explanation) planNote(n plan.Node) string {
	estimate := ""
	if r := n.Props().Rows; r > 0 {
		estimate = "~" + plan.FormatRows(r)
	}
	if s := x.rowsNote(n, estimate); s != "" {
		return "  " + s
	}
	return ""
}

// rowsNote tells rows that were counted and, in parentheses, expected.
func (x *explanation) rowsNote(n plan.Node, estimate string) string {
	rows, ok := x.rowsOf(n)
	switch {
	case !ok:
		return estimate
	case estimate == "":
		return "rows " + strconv.FormatInt(rows, 10)
	}
	return fmt.Sprintf("rows %d (%s)", rows, estimate)
}

// pipelines prints every pipeline with what is known of it.
func (x *explanation) pipelines() string {
	how := x.decisions()
	var parts []string
	for i, t := range pipe.Describe(x.prog) {
		head := ""
		if x.stats != nil {
			head = x.pipelineHead(&x.stats.Pipelines[i])
		}
		lines := t.Lines(head, func(k int) string { return x.partNote(t, i, k) })
		if x.stats != nil {
			if l := x.deviceLine(&x.stats.Pipelines[i]); l != "" {
				lines = slices.Insert(lines, 1, l, "  moved   "+x.movedText(x.stats.Pipelines[i].Device.Movement()))
			}
		}
		if how[i] != "" {
			lines = append(lines, "  how     "+how[i])
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// decisions is how each pipeline runs, or, where it did not, probably would; "" where there is nothing to tell.
func (x *explanation) decisions() []string {
	all := make([][]string, len(x.prog.Pipelines))
	add := func(i int, d phys.Decision) {
		if text := d.String(); text != "" {
			all[i] = append(all[i], text)
		}
	}
	if x.stats != nil {
		for i := range x.stats.Pipelines {
			for _, d := range x.stats.Pipelines[i].How {
				add(i, d)
			}
			if text := x.stats.Pipelines[i].Shared.String(); text != "" {
				all[i] = append(all[i], text)
			}
		}
	} else {
		number := map[int]int{}
		for i, p := range x.prog.Pipelines {
			number[p.ID] = i
		}
		for _, l := range x.listings(x.place(x.set.Device != "cpu")) {
			add(number[l.Pipeline.ID], l.How)
		}
	}
	out := make([]string, len(all))
	for i, texts := range all {
		out[i] = strings.Join(texts, " | ")
	}
	return out
}

// place is where pipelines run, as far as their code depends on it.
func (x *explanation) place(gpus bool) compile.Place {
	opts := x.session.options(&x.set)
	if gpus {
		return x.session.DB.accelerator(x.set.Device).known().Place("gpu", &opts)
	}
	return opts.Place()
}

// listings is what pipelines would be compiled to.
func (x *explanation) listings(place compile.Place) []compile.Listing {
	prog := x.prog
	if place.Target == ir.GPU {
		opts := x.session.options(&x.set)
		prog = gpu.Searched(gpu.Prefiltered(prog, &opts), &opts)
	}
	o := compileOptions(&x.set)
	o.Verbose = true
	return compile.Explain(prog, place, o)
}

// pipelineHead tells time and morsels of a pipeline.
func (x *explanation) pipelineHead(st *exec.PipelineStats) string {
	var list []string
	if x.explainOptions.timing {
		list = append(list, ms(st.Exec), "compiled in "+ms(st.Compile))
	}
	if st.Idle {
		list = append(list, "not run: nothing can come of it")
	}
	if d := &st.Device; *d == (exec.DeviceStats{}) {
		list = append(list, count(st.Morsels, "morsel"), count(int64(st.Variants), "variant"))
	} else {
		list = append(list, count(st.Launches, "launch"))
		if x.explainOptions.timing {
			list = append(list, "kernels "+ms(d.Kernel), "transfer "+ms(d.Copies+d.Carry))
		}
		return strings.Join(list, ", ")
	}
	if st.SkippedRows > 0 {
		list = append(list, fmt.Sprintf("%d of %d rows skipped by zone maps", st.SkippedRows, st.SkippedRows+st.RowsIn))
	}
	return strings.Join(list, ", ")
}

// instructionsText tells what launches did, where the device can say.
func instructionsText(l *device.LaneStats) string {
	return fmt.Sprintf("%.0f%% of lanes active, %s read, %s written", 100*l.Activity(), bytesText(int64(l.SectorsRead)*sectorBytes), bytesText(int64(l.SectorsWritten)*sectorBytes))
}

// deviceLine tells what a pipeline moved, if it ran on a device with memory of its own.
func (x *explanation) deviceLine(st *exec.PipelineStats) string {
	d := &st.Device
	if *d == (exec.DeviceStats{}) {
		return ""
	}
	line := fmt.Sprintf("  device  %s there, %s back", bytesText(d.Up), bytesText(d.Down))
	if d.Columns > 0 {
		line += fmt.Sprintf(", %s of columns", bytesText(d.Columns))
		if x.explainOptions.timing {
			line += speedText(d.Columns, d.Kernel, x.stats.Bandwidth)
		}
	}
	if x.explainOptions.timing && d.Up >= busBytes {
		line += ", bus" + speedText(d.Up, st.Exec, x.stats.Bus)
	}
	if st.Lanes.WarpInstrs > 0 {
		line += "; " + instructionsText(&st.Lanes)
	}
	return line
}

// busBytes is from how many bytes on it matters how fast the bus is.
const busBytes = 1 << 20

// speedText tells how fast so many bytes were moved, and how fast they could have been at most.
func speedText(bytes int64, took time.Duration, most float64) string {
	if took <= 0 {
		return ""
	}
	s := fmt.Sprintf(" at %.0f GB/s", float64(bytes)/took.Seconds()/1e9)
	if most > 0 {
		s += fmt.Sprintf(" of %.0f", most/1e9)
	}
	return s
}

// onDevice reports that the query ran on such a device.
func (x *explanation) onDevice() bool {
	return slices.ContainsFunc(x.stats.Pipelines, func(st exec.PipelineStats) bool { return st.Device != (exec.DeviceStats{}) })
}

// sectorBytes is the unit in which a GPU moves memory.
const sectorBytes = 32

// partNote tells the rows that left part k of pipeline i, or how its sink was organized.
func (x *explanation) partNote(t *pipe.Text, i, k int) string {
	estimate := t.Estimate(k)
	if x.stats == nil {
		return estimate
	}
	st := &x.stats.Pipelines[i]
	var list []string
	switch {
	case k == len(t.Ops):
		if st.Note != "" {
			list = append(list, st.Note)
		}
	case k >= 0 && !t.Changes(k):
	case estimate == "":
		list = append(list, fmt.Sprintf("rows %d", st.OpRows[k]))
	default:
		list = append(list, fmt.Sprintf("rows %d (%s)", st.OpRows[k], estimate))
	}
	if d, ok := st.OpTime[k]; ok && (len(list) > 0 || d >= time.Microsecond) { // columns are computed where they are first read
		list = append(list, "~"+strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', 2, 64)+" ms")
	}
	if k == len(t.Ops) && x.explainOptions.timing && st.Finish >= 10*time.Microsecond {
		list = append(list, "finished in "+ms(st.Finish))
	}
	return strings.Join(list, ", ")
}

// summaryText says where the time went.
func (x *explanation) summaryText() string {
	var out []string
	if x.verbose {
		var list []string
		for _, p := range x.passes {
			list = append(list, p.Name+" "+ms(p.Time))
		}
		out = append(out, "optimizer: "+strings.Join(list, ", "))
	}
	if x.stats != nil && x.summary {
		t := x.timing
		if x.explainOptions.timing {
			out = append(out, fmt.Sprintf("parse %s, plan %s, compile %s, execute %s, total %s",
				ms(t.Parse), ms(t.Plan), ms(t.Compile), ms(t.Exec), ms(t.Total())))
		}
		if m, ok := x.stats.Movement(); ok {
			out = append(out, "moved "+x.movedText(m))
		}
		peak := bytesText(x.stats.PeakMemory)
		if n := x.stats.DevicePeak; n > 0 {
			peak += fmt.Sprintf(", of the device %s beside columns", bytesText(n))
		}
		out = append(out, fmt.Sprintf("%s, peak memory %s, %s", count(x.rows, "row"), peak, count(int64(x.set.Threads), "thread")))
		if x.explainOptions.timing && x.forms["pipelines"] && !x.onDevice() {
			out = append(out, "pipelines are measured; their operators run as one loop, so their parts are found by samples afterwards")
		}
	}
	return strings.Join(out, "\n")
}

// code is one pipeline's generated code, or why there is none.
type code struct {
	Pipeline string `json:"pipeline"`
	Text     string `json:"text,omitempty"`
	Error    string `json:"error,omitempty"`
}

// code lists the generated code of each pipeline: after ANALYZE what ran, if it ran on that
// processor, else what is predicted.
func (x *explanation) code(form string) []code {
	place := x.place(form == "ptx" || form == "ir" && x.set.Device != "cpu")
	var out []code
	add := func(p *pipe.Pipeline, fs []*emit.Fragment, err error) {
		c := code{Pipeline: p.Name()}
		var texts []string
		for _, f := range fs {
			var text string
			if err == nil {
				text, err = listing(form, f, device.CPU{SIMD: x.set.SIMD, Spill: x.set.Off.Registers, Plain: x.set.Off.Fusing})
				texts = append(texts, text)
			}
		}
		if c.Text = strings.Join(texts, "\n"); err != nil {
			c.Text, c.Error = "", reason(err)
			if place.Target == ir.GPU {
				c.Error = "not for the GPU: " + strings.TrimPrefix(c.Error, "device gpu: ")
			}
		}
		out = append(out, c)
	}
	if x.stats != nil && x.ranOn(place.Target) {
		for i, p := range x.prog.Pipelines {
			add(p, x.stats.Pipelines[i].Fragments, nil)
		}
		return out
	}
	for _, l := range x.listings(place) {
		var fs []*emit.Fragment
		if l.Err == nil {
			fs = append(fs, l.Fragment)
		}
		add(l.Pipeline, fs, l.Err)
	}
	return out
}

// ranOn reports that the functions which ran were those of a processor.
func (x *explanation) ranOn(target ir.Target) bool {
	for _, st := range x.stats.Pipelines {
		for _, f := range st.Fragments {
			if f.Func.Target != target {
				return false
			}
		}
	}
	return true
}

// listing is a function's code and that of the functions which fill its lookup tables.
func listing(form string, f *emit.Fragment, cpu device.CPU) (string, error) {
	fs := []*ir.Func{f.Func}
	for _, l := range f.Luts {
		fs = append(fs, l.Frag.Func)
	}
	var texts []string
	for _, f := range fs {
		text, err := f.String(), error(nil)
		switch form {
		case "x64":
			text, err = device.ListCPU(f, cpu)
		case "ptx":
			text, err = device.ListGPU(f)
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// reason is an error without its code.
func reason(err error) string {
	var e *diag.Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return err.Error()
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64) + " ms"
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}

// bytesText is a size with one digit after the point.
func bytesText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}
