package lab

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// tiny is a scale at which tables have their least size.
const tiny = 0.0001

// checks are what must be true of the counts of a figure; they are exact, so no margin is for noise.
var checks = map[string]func(t *testing.T, r *Result){
	"flounder-2.14": func(t *testing.T, r *Result) {
		for _, row := range r.Table.Rows {
			if row.Values[2] < 1.05 {
				t.Errorf("%s: registers save %v× of the instructions", row.Name, row.Values[2])
			}
		}
	},
	"flounder-2.15": func(t *testing.T, r *Result) {
		if v := r.Table.Rows[2].Values; r.Device == "simt" && (v[2] < 2 || v[3] < 3*v[4]) {
			t.Errorf("100 columns: %v", v)
		}
	},
	"horseqc-17": func(t *testing.T, r *Result) {
		first, last := r.Table.Rows[0].Values, r.Table.Rows[5].Values
		if worst(r.Table.column(6)) > 1.02 || first[6] > 0.5 {
			t.Errorf("passes %v", r.Table.column(6))
		}
		if half := r.Table.Rows[3].Values; half[3] < 1.5*half[0] || half[4] < 1.15*half[3] {
			t.Errorf("half of the rows: %v", half)
		}
		if v := last[12:]; v[0] != 1 || v[1] < 28 || v[1] > 32 || v[2] < 7*v[1] { // of 256 threads and more
			t.Errorf("rows per atomic of each tuple, of warps, of blocks: %v", v)
		}
		if first[0] > last[0]/2 || first[2] < 2*first[0] {
			t.Errorf("costs %v to %v", first, last)
		}
	},
	"horseqc-27": func(t *testing.T, r *Result) {
		for _, row := range r.Table.Rows[2:] {
			if v := row.Values; v[4] < 2*v[3] || v[5] < v[4] || v[2] < v[1] || v[10] < 8*v[9] || v[11] < 7*v[10] {
				t.Errorf("%s: %v", row.Name, v)
			}
		}
	},
	"weaver-26": func(t *testing.T, r *Result) {
		if len(r.Table.Rows) != 5 {
			t.Errorf("%d patterns", len(r.Table.Rows))
		}
		for _, row := range r.Table.Rows {
			if row.Values[2] < 1 || row.Values[6] < 1.5 {
				t.Errorf("%s: %v", row.Name, row.Values)
			}
		}
	},
	"horseqc-18": func(t *testing.T, r *Result) {
		for _, row := range r.Table.Rows[:4] { // up to 1024 groups
			if row.Values[3] < 2 {
				t.Errorf("%s groups: %v", row.Name, row.Values)
			}
		}
		if few := r.Table.Rows[0].Values; few[9] < 7*few[6] || few[7] < 2*few[1] {
			t.Errorf("2 groups: segments cost %v, an atomic for %v rows", few[7], few[9])
		}
		if few := r.Table.Rows[0].Values; few[5] < 20*few[6] {
			t.Errorf("2 groups: a global atomic for %v rows in blocks, for %v in global memory", few[5], few[6])
		}
	},
	"horseqc-19": onePass(13, map[string]float64{"q1.1": 0.6, "q1.3": 0.45}), "horseqc-20": onePass(22, map[string]float64{"q1": 1.01, "q6": 0.65, "q14": 0.6}),
	"horseqc-21": func(t *testing.T, r *Result) {
		if v := r.Table.Rows[0].Values; v[6] < 10*v[5] {
			t.Errorf("%v MB over the bus, %v when resident", v[6], v[5])
		}
	},
	"dogqc-4.9": func(t *testing.T, r *Result) {
		n := len(r.Table.Columns) - 1
		naive, decided, optimized := r.Table.column(n-4), r.Table.column(n-3), r.Table.column(n-1)
		for i, name := range r.Table.labels() {
			skewed := strings.Contains(name, "zipf")
			if skewed != (naive[i] < 8) || decided[i] < 28 || i > 0 && optimized[i] < 31 {
				t.Errorf("%s: %v lanes, %v as decided, %v by the unique side", name, naive[i], decided[i], optimized[i])
			}
		}
		if v := r.Table.Rows[3].Values; v[1] < 2*v[4] {
			t.Errorf("zipf: a loop per lane costs %v, balanced %v", v[1], v[4])
		}
	},
	"goals": func(t *testing.T, r *Result) {
		for name, least := range map[string]float64{"zipf 0.75": 3, "zipf 0.75, 27 operators": 6, "1–7 for a 12th, 9 operators": 1.2, "1–7 for a 12th, 27 operators": 1.8, "1–8 for all, 9 operators": 1, "5 %, 450 instructions (row)": 2.5} {
			at := slices.Index(r.Table.labels(), name)
			if at < 0 || r.Table.Rows[at].Values[2] < least {
				t.Errorf("%s: %v, less than %v", name, r.Table.Rows[max(at, 0)].Values, least)
			}
		}
	},
	"dogqc-4.10": func(t *testing.T, r *Result) {
		gain := ratios(r.Table.column(1), r.Table.column(4))
		if !slices.IsSorted(gain[:3]) || gain[3] < 4 {
			t.Errorf("balancing gains %v", gain)
		}
	},
	"dogqc-4.11": func(t *testing.T, r *Result) {
		tuples, lanes := r.Table.column(2), r.Table.column(4)
		for i, n := range tuples {
			if n != tuples[0] {
				t.Errorf("%s: %v matches, not %v", r.Table.Rows[i].Name, n, tuples[0])
			}
		}
		if lane, balanced := lanes[1], lanes[4]; lane > 5 || balanced < 3*lane || lanes[0] != balanced {
			t.Errorf("lanes %v", lanes)
		}
	},
	"dogqc-4.15": func(t *testing.T, r *Result) {
		tuples, lanes, end := r.Table.column(2), r.Table.column(4), r.Table.column(5)
		if naive := lanes[len(lanes)-2]; naive > 4 || end[2] < 3*naive || tuples[2] != tuples[0] {
			t.Errorf("%v lanes behind the join, with refill %v at the end; %v tuples", naive, end[2], tuples)
		}
	},
	"dogqc-4.16": func(t *testing.T, r *Result) {
		first, last := r.Table.Rows[0].Values, r.Table.Rows[5].Values
		// With few warps, rows wait for others; with one row for each lane, there are none to wait for.
		if first[5] < 1.2*first[4] || last[5] != last[4] || first[6] < 2*first[4] || first[7] < 28 || first[3] > first[0]/2 {
			t.Errorf("%v to %v", first, last)
		}
	},
	"dogqc-4.18": func(t *testing.T, r *Result) {
		shared, code := r.Table.column(1), r.Table.column(2)
		if code[1] <= code[0] || code[4] < 2*code[3] || code[6] < 1.2*code[5] || shared[0] != 0 || shared[4] < 1024 || shared[5] != 0 || shared[6] < 1024 {
			t.Errorf("%v bytes, %v instructions", shared, code)
		}
		for _, row := range r.Table.Rows {
			if row.Values[0] < 18 || row.Values[0] > 64 || row.Values[3] < 50 || row.Values[3] > 100 {
				t.Errorf("%s: %v", row.Name, row.Values)
			}
		}
	},
	"dogqc-4.19": func(t *testing.T, r *Result) {
		for _, row := range r.Table.Rows {
			if v := row.Values; v[4] < 8*v[5] { // columns, and results of few rows
				t.Errorf("%s: %v MB over the bus, hot %v", row.Name, v[4], v[5])
			}
		}
	},
	"horseqc-22": func(t *testing.T, r *Result) {
		stream, there := r.Table.column(4), r.Table.column(5)
		if len(stream) != 22 || total(stream) < 20*total(there) || geomean(ratios(r.Table.column(7), r.Table.column(6))) < 1.5 {
			t.Errorf("%v MB over the bus, %v if columns are there", stream, there)
		}
	},
	"weaver-27": func(t *testing.T, r *Result) {
		for i, least := range []float64{2, 1.2, 1.2, 1, 4} {
			if row := r.Table.Rows[i]; row.Values[2] < least || row.Values[0] <= 0 {
				t.Errorf("%s: %v", row.Name, row.Values)
			}
		}
	},
	"weaver-29": func(t *testing.T, r *Result) {
		for _, row := range r.Table.Rows {
			if row.Values[2] <= 1 || row.Values[5] <= 1 {
				t.Errorf("%s: %v", row.Name, row.Values)
			}
		}
	},
	"weaver-t7": func(t *testing.T, r *Result) {
		registers, code := r.Table.column(0), r.Table.column(3)
		if joins := registers[6]; joins <= registers[2] || code[5] <= code[1] || code[6] <= code[2] || code[9] <= code[4] {
			t.Errorf("registers %v, instructions %v", registers, code)
		}
	},
	"dogqc-4.12": fewerRows, "dogqc-4.13": fewerRows,
	"dogqc-4.14": func(t *testing.T, r *Result) {
		v := r.Table.Rows[3].Values
		if one := v[len(v)-2]; one < 2*v[0] {
			t.Errorf("27 operators: %v", v)
		}
	},
	"dogqc-4.17": func(t *testing.T, r *Result) {
		before, after := r.Table.column(3), r.Table.column(4)
		if len(before) != 22 || total(after) < total(before) || total(r.Table.column(1)) > total(r.Table.column(0)) {
			t.Errorf("lanes %v, then %v", before, after)
		}
	},
	"dogqc-4.20": func(t *testing.T, r *Result) {
		for i, share := range []float64{0.01, 0.32} {
			v := r.Table.Rows[i].Values
			if got := v[len(v)-1] / 4096; math.Abs(got-share) > 0.005 {
				t.Errorf("%v of the rows match", got)
			}
		}
	},
	"cwi-2": func(t *testing.T, r *Result) {
		// Which memory a row of each home changes, and which it does not; a global table without local resolution has 6 atomics for each row that passes.
		for i, want := range [][4]bool{{true}, {true}, {false, false, false, true}, {false, false, true}, {}, {}, {false, true, true}} {
			row := r.Table.Rows[i]
			for k, v := range row.Values[2:6] {
				if (v > 0.2) != want[k] {
					t.Errorf("%s: %s %v", row.Name, r.Table.Columns[3+k], v)
				}
			}
		}
		if each, warp := r.Table.Rows[0].Values[2], r.Table.Rows[1].Values[2]; each < 6 || each > 6.01 || warp > each/8 {
			t.Errorf("%v atomics for each row, %v by warps", each, warp)
		}
	},
	"cwi-3": func(t *testing.T, r *Result) {
		for i := 4; i < len(r.Table.Rows); i += 2 { // homes whose blocks have something to begin and to end with
			if few, many := r.Table.Rows[i].Values, r.Table.Rows[i+1].Values; few[0] <= many[0] {
				t.Errorf("%s: 64 threads cost %v with 64 rows each, %v with 1024", r.Table.Rows[i].Name, few[0], many[0])
			}
		}
	},
	"share": func(t *testing.T, r *Result) {
		for i, part := range []float64{0, 100, 20, 40, 60, 80} {
			if v := r.Table.Rows[i].Values; math.Abs(v[1]-part) > 0.5 || math.Abs(v[3]-part) > 0.5 {
				t.Errorf("%s: %v", r.Table.Rows[i].Name, v)
			}
		}
	},
	"cpu-first": func(t *testing.T, r *Result) {
		if v := r.Table.Rows[0].Values; v[4] != 0 { // the simulated GPU has no time to become ready
			t.Errorf("%v", v)
		}
	},
	"redfox-t4": func(t *testing.T, r *Result) {
		if len(r.Table.Rows) != 22 {
			t.Errorf("%d queries", len(r.Table.Rows))
		}
	},
}

// onePass: queries that keep nothing between pipelines read what they need once, and what few rows need not even that.
func onePass(queries int, most map[string]float64) func(t *testing.T, r *Result) {
	return func(t *testing.T, r *Result) {
		if len(r.Table.Rows) != queries {
			t.Errorf("%d queries", len(r.Table.Rows))
		}
		for _, row := range r.Table.Rows {
			if m := most[row.Name]; row.Values[5] <= 0 || m > 0 && row.Values[5] > m {
				t.Errorf("%s: %v passes", row.Name, row.Values[5])
			}
		}
	}
}

// fewerRows: a filter that lets few pass costs less, the more so with a front.
func fewerRows(t *testing.T, r *Result) {
	first, last := r.Table.Rows[0].Values, r.Table.Rows[5].Values
	if first[0] > 0.8*last[0] || first[len(first)-1] >= last[len(last)-1] {
		t.Errorf("%v to %v", first, last)
	}
}

// TestFigures runs all figures in small and checks what they count.
func TestFigures(t *testing.T) {
	short := []string{"flounder-2.14", "horseqc-18", "dogqc-4.9"}
	for _, f := range Figures() {
		t.Run(f.Name, func(t *testing.T) {
			dev := "simt"
			if !slices.Contains(f.Devices, dev) {
				dev = "cpu"
			}
			if dev == "cpu" && !device.HasCPU() || testing.Short() && !slices.Contains(short, f.Name) {
				t.Skip("needs a CPU translator, or not with -short")
			}
			r, err := Run(t.Context(), f, Options{Device: dev, Scale: tiny, Runs: 1})
			if err != nil {
				t.Fatal(err)
			}
			looksWell(t, r)
			if check := checks[f.Name]; check != nil {
				check(t, r)
			}
			if t.Failed() {
				t.Log(r.Text())
			}
		})
	}
}

// looksWell: a result has all its parts, and they can be read.
func looksWell(t *testing.T, r *Result) {
	t.Helper()
	for name, s := range map[string]string{"workload": r.Workload, "claim": r.Claim, "ours": r.Ours, "cost": r.Cost, "on": r.On} {
		if s == "" || strings.Contains(s, "NaN") || strings.Contains(s, "%!") {
			t.Errorf("%s is %q", name, s)
		}
	}
	for _, row := range r.Table.Rows {
		if len(row.Values) != len(r.Table.Columns)-1 {
			t.Errorf("%s has %d numbers for %d columns", row.Name, len(row.Values), len(r.Table.Columns)-1)
		}
	}
	dir := t.TempDir()
	before := *r
	before.Ours = "what was found earlier that day"
	for folder, x := range map[string]*Result{"2026-01-01": &before, "2026-01-01-x": r} {
		if err := x.Write(filepath.Join(dir, "results", folder)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Page(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "FIGURES.md"))
	if err != nil || !strings.Contains(string(page), r.Ours) || !strings.Contains(string(page), "(results/2026-01-01-x/"+r.Figure+".svg)") {
		t.Errorf("%v in\n%s", err, page)
	}
	d := xml.NewDecoder(strings.NewReader(r.Picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, r.Picture)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again.Table.text() != r.Table.text() {
		t.Errorf("from JSON:\n%snot\n%s", again.Table.text(), r.Table.text())
	}
}

// TestNames: figures can be told apart, and each says where it can run.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Figures() {
		if seen[f.Name] || f.run == nil || len(f.Devices) == 0 {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		if g, err := Find(f.Name); err != nil || g.Title != f.Title {
			t.Errorf("%s is not found: %v", f.Name, err)
		}
	}
	if _, err := Find("horseqc-99"); err == nil {
		t.Error("horseqc-99 is found")
	}
	f, _ := Find("horseqc-18")
	if _, err := Run(t.Context(), f, Options{Device: "cpu"}); err == nil {
		t.Error("groups of blocks on a CPU")
	}
}

func TestZipf(t *testing.T) {
	for _, d := range keyDistributions {
		counts := d.counts(100_000)
		sum := 0
		for _, c := range counts {
			sum += c
		}
		if sum < 95_000 || sum > 105_000 || counts[0] < counts[len(counts)-1] {
			t.Errorf("%s has %d rows, %d of the first key, %d of the last", d.name, sum, counts[0], counts[len(counts)-1])
		}
	}
	one, four := zipf(0.75, 1)(100_000), zipf(0.75, 4)(100_000)
	if one[0] < 2*four[0] || four[0] != four[3] || four[3] == four[4] {
		t.Errorf("heaviest %d, and %v", one[0], four[:5])
	}
}
