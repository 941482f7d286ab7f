package session

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/techniques"
	"github.com/kelpiedb/kelpie/internal/types"
)

// corpusCell is a configuration under which a file is run.
type corpusCell struct {
	name string
	set  func(*Settings)
	// always: every file runs in it, else only one in twelve (36 with -short), unless KELPIE_CORPUS=all is set.
	always bool
	// batches: rows are read from Arrow batches, as users read them, else as Go values.
	batches bool
	// unplanned: no pass of the optimizer runs.
	unplanned bool
}

// corpusCells are the configurations of the corpus: the answers must not depend on them.
func corpusCells() []corpusCell {
	var cells []corpusCell
	add := func(name string, set func(*Settings)) {
		cells = append(cells, corpusCell{name: name, set: func(x *Settings) { x.Check = true; set(x) }})
	}
	if device.HasCPU() {
		cells = append(cells, corpusCell{name: "cpu", set: func(x *Settings) { x.Device = "cpu" }, always: true, batches: true})
		add("check", func(x *Settings) {})
		for _, c := range []struct{ threads, morsel int }{{1, 1}, {1, 7}, {2, 1}, {2, 3}, {4, 1024}, {16, 1}} {
			add(fmt.Sprintf("threads=%d,morsel=%d", c.threads, c.morsel), func(x *Settings) {
				x.Threads, x.MorselRows, x.Off.ThreadTrial = c.threads, c.morsel, c.threads > 1
			})
		}
		for _, e := range []struct{ narrow, dict bool }{{false, false}, {true, false}, {false, true}} {
			add(fmt.Sprintf("narrow=%v,dict=%v", e.narrow, e.dict), func(x *Settings) {
				x.Narrow, x.Dict, x.Threads, x.MorselRows = e.narrow, e.dict, 2, 5
			})
		}
		for _, s := range []device.SIMD{device.SIMDAVX2, device.SIMDOff} {
			add("simd="+s.String(), func(x *Settings) { x.SIMD = s })
		}
		var all techniques.Off
		fields := reflect.TypeOf(all)
		for k := range fields.NumField() {
			reflect.ValueOf(&all).Elem().Field(k).SetBool(true)
			add("without "+fields.Field(k).Name, func(x *Settings) {
				reflect.ValueOf(&x.Off).Elem().Field(k).SetBool(true)
				x.Threads, x.MorselRows = 2, 16
			})
		}
		add("without any technique", func(x *Settings) { x.Off, x.SIMD = all, device.SIMDOff })
		var passes []string
		for _, p := range opt.Passes() {
			if !p.Required {
				passes = append(passes, p.Name)
				add("without pass "+p.Name, func(x *Settings) { x.Disabled = map[string]bool{p.Name: true} })
			}
		}
		add("without any pass", func(x *Settings) {
			if err := x.setDisabled(strings.Join(passes, ",")); err != nil {
				panic(err)
			}
		})
		cells[len(cells)-1].unplanned = true
	}
	cells = append(cells, corpusCell{name: "simt", set: func(x *Settings) { x.Device, x.Check = "simt", true }, always: !testing.Short(), batches: true})
	add("simt narrow=false,dict=false", func(x *Settings) { x.Device, x.Narrow, x.Dict, x.Grid, x.Block = "simt", false, false, 1, 32 })
	add("simt grid=3,block=64,rows=33", func(x *Settings) { x.Device, x.Grid, x.Block, x.MorselRows = "simt", 3, 64, 33 })
	for _, how := range []phys.Resolve{phys.ResolveTuple, phys.ResolveWarp} {
		add("simt resolve="+how.String(), func(x *Settings) { x.Device, x.Resolve = "simt", how })
	}
	for _, how := range []phys.Fuse{phys.FuseMultipass, phys.FuseOperator} {
		add("simt fuse="+how.String(), func(x *Settings) { x.Device, x.Fuse = "simt", how })
	}
	add("simt share=100", func(x *Settings) { x.Device, x.Share = "simt", phys.Share{Mode: phys.ShareFixed, Part: 100} })
	add("simt prefilter=on", func(x *Settings) {
		x.Device, x.Feed, x.FeedBlock, x.Prefilter = "simt", phys.FeedBatch, 4<<10, phys.PrefilterOn
	})
	add("simt partition=on", func(x *Settings) { x.Device, x.Partition = "simt", phys.PartitionOn })
	add("simt search=flat,dict=false", func(x *Settings) { x.Device, x.Check, x.Search, x.Dict = "simt", true, phys.SearchFlat, false })
	for _, c := range drawnSwitches(5) {
		add(c.name, c.set)
	}
	return cells
}

// TestCorpus runs the files of testdata/corpus (see internal/corpus for their form) in the default
// configuration, on the simulated GPU (with -short only some), and in one in twelve of all others, chosen by names;
// KELPIE_CORPUS=all runs every file in all of them, KELPIE_CORPUS=3 in one of three. With -rewrite the rows that the default configuration gives now are written
// into the files: look at the differences, and let PostgreSQL confirm them
// (scripts/with-postgres go test ./postgres, in bench).
func TestCorpus(t *testing.T) {
	paths, err := filepath.Glob("testdata/corpus/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	oneIn := uint32(12)
	switch {
	case os.Getenv("KELPIE_CORPUS") == "all":
		oneIn = 1
	case os.Getenv("KELPIE_CORPUS") != "":
		n, err := strconv.ParseUint(os.Getenv("KELPIE_CORPUS"), 10, 32)
		if err != nil || n == 0 {
			t.Fatal("KELPIE_CORPUS is all, or how many configurations one is taken of: ", err)
		}
		oneIn = uint32(n)
	case testing.Short():
		oneIn = 36
	}
	var records, ran atomic.Int64
	for _, path := range paths {
		f, err := corpus.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		records.Add(int64(len(f.Records)))
		for _, c := range corpusCells() {
			h := fnv.New32a()
			h.Write([]byte(f.Name + " in " + c.name))
			if !c.always && (raced && oneIn > 1 || h.Sum32()%oneIn != 0) {
				continue
			}
			ran.Add(1)
			t.Run(f.Name+"/"+c.name, func(t *testing.T) { runCorpus(t, f, c) })
		}
		if *rewrite {
			if err := os.WriteFile(path, []byte(f.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d records in %d files, %d runs of files", records.Load(), len(paths), ran.Load())
}

// runCorpus runs a file in one configuration.
func runCorpus(t *testing.T, f *corpus.File, c corpusCell) {
	s := New(NewDB())
	s.Configure(c.set)
	for _, r := range f.Records {
		if c.unplanned && r.Planned != "" {
			continue
		}
		at := fmt.Sprintf("%s.test:%d", f.Name, r.Line)
		rows, err := askCorpus(s, r.SQL, c.batches)
		if *rewrite && c.name == "cpu" && r.Query && err == nil {
			r.Rows = nil
			for _, row := range rows {
				r.Rows = append(r.Rows, corpus.RowText(row))
			}
			continue
		}
		if diff := corpusOutcome(r, rows, err); diff != "" {
			t.Errorf("%s: %s\n%s", at, diff, r.SQL)
		}
	}
}

// corpusOutcome says how what came of a record differs from what it wants, "" if it does not.
func corpusOutcome(r *corpus.Record, rows [][]corpus.Cell, err error) string {
	switch {
	case err == nil && r.Code != "":
		return "no error, want " + r.Code
	case err != nil && diag.CodeOf(err) != r.Code:
		return fmt.Sprintf("%s (%s)", firstLine(err.Error()), diag.CodeOf(err))
	case err == nil && r.Query:
		return r.Diff(rows, false)
	}
	return ""
}

// askCorpus runs a statement and gives its rows as cells.
func askCorpus(s *Session, sql string, batches bool, args ...types.Value) ([][]corpus.Cell, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := s.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	for _, n := range res.Notices() {
		if strings.HasPrefix(n, "the query runs on the CPU") && !strings.Contains(n, "WITH RECURSIVE") {
			return nil, errors.New(n)
		}
	}
	var rows [][]corpus.Cell
	add := func(n int, value func(i int) types.Value) {
		cells := make([]corpus.Cell, n)
		for i := range cells {
			cells[i] = corpusValue(value(i), res.zone)
		}
		rows = append(rows, cells)
	}
	if !batches {
		for _, row := range res.Values() {
			add(len(row), func(i int) types.Value { return row[i] })
		}
		return rows, nil
	}
	for {
		b, err := res.Next()
		if diag.CodeOf(err) == diag.DatetimeOverflow { // Arrow has no intervals of that size: read the values
			return askCorpus(s, sql, false, args...)
		}
		if b == nil || err != nil {
			return rows, err
		}
		for k := range int(b.NumRows()) {
			add(int(b.NumCols()), func(i int) types.Value { return Cell(b.Column(i), k) })
		}
		b.Release()
	}
}

func corpusValue(v types.Value, z *types.Zone) corpus.Cell {
	if z == nil {
		z = types.UTC
	}
	c := corpus.Cell{Null: v.Null, Text: string(v.AppendTextIn(nil, z))}
	switch v.Type.Kind {
	case types.Int16, types.Int32, types.Int64, types.Decimal:
		c.Kind = corpus.Exact
	case types.Float32:
		c.Kind = corpus.Single
	case types.Float64:
		c.Kind = corpus.Double
	}
	return c
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
