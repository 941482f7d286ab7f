package session

import (
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/techniques"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Settings are what SET changes. Sessions copy them, so that what they refer to is never changed in place.
type Settings struct {
	Threads    int
	Memory     int64 // bytes a query may take; 0: no limit
	MorselRows int   // 0: adaptive
	Device     string
	Grid       int             // GPU: blocks per launch; 0: by the rows
	Block      int             // GPU: threads per block
	HostMemory int64           // of the host, for copies of columns that stream to a GPU; 0: a part of what the process may take
	GPUMemory  int64           // GPU: bytes that columns may take there; 0: what it has
	Resolve    phys.Resolve    // GPU: how lanes come together
	Home       phys.Home       // GPU: where groups live
	GPUTimes   bool            // GPU: kernels and copies are measured
	Feed       phys.Feed       // GPU: how columns come there
	FeedBlock  int64           // GPU: bytes of columns that stream at a time; 0: as many as pay
	Prefilter  phys.Prefilter  // whether the CPU tests filters of scans whose columns stream to a GPU
	Search     phys.Search     // how a GPU searches texts
	CPUFirst   phys.CPUFirst   // whether the CPU begins while a GPU is not ready
	Share      phys.Share      // whether CPU and GPU share the rows of a pipeline
	Expand     phys.Expand     // GPU: how lanes share the matches of their rows
	Refill     phys.Refill     // GPU: what becomes of lanes whose rows are dropped
	Fuse       phys.Fuse       // GPU: how much one kernel does
	FuseBudget phys.FuseBudget // GPU: and how many registers it may need
	Partition  phys.Partition  // GPU: whether rows are partitioned before they are grouped
	GPUCode    exec.CodeFrom   // GPU: which code it may use
	Disabled   map[string]bool // optimizer passes
	SIMD       device.SIMD     // vector instructions of the CPU
	Check      bool            // verify plans and generated functions
	Narrow     bool            // narrow integers in tables made from now on
	Dict       bool            // dictionaries, likewise
	Off        techniques.Off  // techniques
	Tally      bool            // count instructions
	FileCache  bool            // keep what is read of files
	FileBlock  int             // bytes of a text file that a thread parses at a time, 0: as many as pay
	FileMap    bool            // read files where the system has them in memory
	// FileSIMD: pages are decoded by vector instructions, where the processor has them.
	FileSIMD bool
	// FileStatistics: what Parquet files say of their row groups and pages is used.
	FileStatistics bool
	readOnce       bool    // of one statement: what it reads of files need not be kept
	placed         *placed // of one statement: which device was chosen for it
	client         client
}

// DefaultSettings use all cores and no limit.
func DefaultSettings() Settings {
	return Settings{Threads: runtime.GOMAXPROCS(0), Device: defaultDevice(), Disabled: map[string]bool{}, Narrow: true, Dict: true,
		Partition: phys.PartitionOff, // until it was measured
		FileCache: true, FileMap: true, FileSIMD: true, FileStatistics: true, client: defaultClient}
}

// defaultDevice is the CPU, where there is a translator for it.
func defaultDevice() string {
	if device.HasCPU() {
		return "cpu"
	}
	return "simt"
}

// Settings is a copy of the session's settings.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Configure changes settings from Go.
func (s *Session) Configure(f func(*Settings)) { s.change(false, f) }

// setting is a row of the table of settings: how one is shown and changed.
type setting struct {
	name string
	doc  string
	show func(*Settings) string
	set  func(*Settings, types.Value) error
}

var settings = []setting{
	technique("bare_sort", "sort rows that are nothing but keys as numbers",
		func(s *Settings) *bool { return &s.Off.BareSort }),
	technique("block_groups", "keep few groups in the shared memory of a GPU's blocks",
		func(s *Settings) *bool { return &s.Off.BlockGroups }),
	technique("branch_free", "decide doubtful tests of a scan together, by one branch, and CASE of numbers by none",
		func(s *Settings) *bool { return &s.Off.BranchFree }),
	{"check", "verify plans and generated functions (slow; for tests)",
		func(s *Settings) string { return onOff(s.Check) },
		func(s *Settings, v types.Value) (err error) { s.Check, err = boolOf(v); return }},
	{"count_instructions", "count the machine instructions that queries execute (slow; for experiments)",
		func(s *Settings) string { return onOff(s.Tally) },
		func(s *Settings, v types.Value) (err error) { s.Tally, err = boolOf(v); return }},
	{"cpu_first", "whether a query for which a GPU lacks code or columns begins on the CPU, and the GPU takes over rows when it is ready: off, on, or auto, where that pays",
		func(s *Settings) string { return s.CPUFirst.String() },
		func(s *Settings, v types.Value) error { return choose(&s.CPUFirst, v, phys.ParseCPUFirst) }},
	{"device", "where queries run: cpu, gpu, simt, or auto, which chooses between cpu and gpu",
		func(s *Settings) string { return s.Device },
		func(s *Settings, v types.Value) error { return s.setDevice(v.S) }},
	technique("bus_reads", "let kernels of a GPU read columns that stream over the bus, where few rows need them",
		func(s *Settings) *bool { return &s.Off.BusReads }),
	{"dictionaries", "dictionary encoding of texts in tables made from now on",
		func(s *Settings) string { return onOff(s.Dict) },
		func(s *Settings, v types.Value) (err error) { s.Dict, err = boolOf(v); return }},
	technique("direct_scan", "copy columns of a table to the result without tuples between",
		func(s *Settings) *bool { return &s.Off.DirectScan }),
	technique("direct_tables", "address hash tables and groups by the key itself where keys are dense",
		func(s *Settings) *bool { return &s.Off.DirectTables }),
	{"disabled_optimizers", "optimizer passes to leave out, separated by commas",
		func(s *Settings) string { return passList(s.Disabled) },
		func(s *Settings, v types.Value) error { return s.setDisabled(v.S) }},
	{"expand", "how lanes of a GPU share the matches of rows that find several: auto, lane, group, warp (long texts and text keys are compared so, too) or balanced",
		func(s *Settings) string { return s.Expand.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Expand, v, phys.ParseExpand) }},
	{"feed", "how columns come to a GPU: resident (they stay), run_to_finish, kernel_at_a_time or batch (nothing stays)",
		func(s *Settings) string { return s.Feed.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Feed, v, phys.ParseFeed) }},
	{"feed_block", "bytes of the columns that stream to a GPU at a time, such as '16MB'; 0: as many as pay",
		func(s *Settings) string { return formatBytes(s.FeedBlock) },
		func(s *Settings, v types.Value) (err error) { s.FeedBlock, err = ParseBytes(v.String()); return }},
	{"file_cache", "keep what queries read of files for later ones",
		func(s *Settings) string { return onOff(s.FileCache) },
		func(s *Settings, v types.Value) (err error) { s.FileCache, err = boolOf(v); return }},
	{"file_block", "bytes of a CSV file that a thread reads at a time, also of small files, which else are loaded first; 0: as many as pay",
		func(s *Settings) string { return strconv.Itoa(s.FileBlock) },
		func(s *Settings, v types.Value) (err error) { s.FileBlock, err = intOf(v, 0, 1<<26); return }},
	{"file_map", "read Parquet files in place, where the system has them in memory",
		func(s *Settings) string { return onOff(s.FileMap) },
		func(s *Settings, v types.Value) (err error) { s.FileMap, err = boolOf(v); return }},
	{"file_simd", "decode the pages of Parquet files by vector instructions",
		func(s *Settings) string { return onOff(s.FileSIMD) },
		func(s *Settings, v types.Value) (err error) { s.FileSIMD, err = boolOf(v); return }},
	{"file_statistics", "believe the statistics in Parquet files: skip row groups and pages, store columns narrowly",
		func(s *Settings) string { return onOff(s.FileStatistics) },
		func(s *Settings, v types.Value) (err error) { s.FileStatistics, err = boolOf(v); return }},
	{"fuse", "how much of a query one kernel of a GPU does: auto, compound (a pipeline), multipass (a pipeline that counts its rows, adds the counts up and writes) or operator (likewise each operator)",
		func(s *Settings) string { return s.Fuse.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Fuse, v, phys.ParseFuse) }},
	{"fuse_budget", "registers that the threads of a GPU's kernel may need before fuse = auto cuts its pipeline, whose shared memory must leave room for as many threads: auto, or a number from 16 to 255",
		func(s *Settings) string { return s.FuseBudget.String() },
		func(s *Settings, v types.Value) error { return choose(&s.FuseBudget, v, phys.ParseFuseBudget) }},
	technique("fused_operands", "read and change operands of machine instructions in memory",
		func(s *Settings) *bool { return &s.Off.Fusing }),
	{"gpu_blocks", "blocks per launch on a GPU; 0: by the number of rows",
		func(s *Settings) string { return strconv.Itoa(s.Grid) },
		func(s *Settings, v types.Value) (err error) { s.Grid, err = intOf(v, 0, 1<<20); return }},
	{"gpu_code", "code for a GPU that a query may use: 'kept' is all that was compiled before, 'stored' what is on disk, 'new' none (for benchmarks)",
		func(s *Settings) string { return codeSources[s.GPUCode] },
		func(s *Settings, v types.Value) error { return s.setGPUCode(v.String()) }},
	{"gpu_host_memory", "memory of the host for copies of columns that stream to a GPU, such as '4GB'; 0 is a quarter of what the process may take",
		func(s *Settings) string { return formatBytes(s.HostMemory) },
		func(s *Settings, v types.Value) (err error) { s.HostMemory, err = ParseBytes(v.String()); return }},
	{"gpu_memory_limit", "memory of a GPU that columns may take, of all queries, such as '4GB'; 0 is what it has",
		func(s *Settings) string { return formatBytes(s.GPUMemory) },
		func(s *Settings, v types.Value) (err error) { s.GPUMemory, err = ParseBytes(v.String()); return }},
	{"gpu_threads", "threads per block on a GPU, a multiple of 32; 0: as many as let most threads run at a time",
		func(s *Settings) string { return strconv.Itoa(s.Block) },
		func(s *Settings, v types.Value) error { return s.setBlock(v) }},
	{"gpu_times", "measure kernels and copies of a GPU by its clock, a few microseconds for each (for benchmarks)",
		func(s *Settings) string { return onOff(s.GPUTimes) },
		func(s *Settings, v types.Value) (err error) { s.GPUTimes, err = boolOf(v); return }},
	technique("gpu_warming", "make ready behind a query that device 'auto' left to the CPU what a GPU lacked for it, so that the next one can run there",
		func(s *Settings) *bool { return &s.Off.Warming }),
	technique("gpu_history", "choose for device 'auto' by how long queries took that differ in literals only, not by what is expected alone",
		func(s *Settings) *bool { return &s.Off.History }),
	technique("group_parts", "keep many groups by parts of their hash, so that those of several threads meet part by part",
		func(s *Settings) *bool { return &s.Off.GroupParts }),
	{"groups", "where groups of few live on a GPU while rows come: auto, global (device memory), local, shared or registers (tables of threads), lanes (one group for each lane of a warp) or block (a table of each block)",
		func(s *Settings) string { return s.Home.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Home, v, phys.ParseHome) }},
	technique("host_copies", "keep columns that stream to a GPU in memory of the host, in its form, from where they cross the bus at full speed, and memory for results that come from it",
		func(s *Settings) *bool { return &s.Off.HostCopies }),
	technique("late_columns", "copy columns from the table to the result by row number, without tuples between",
		func(s *Settings) *bool { return &s.Off.LateColumns }),
	technique("late_loads", "read columns of files only where rows pass the filters of the scan",
		func(s *Settings) *bool { return &s.Off.LateLoads }),
	technique("lookup_tables", "look dates and long IN lists up instead of reckoning and comparing",
		func(s *Settings) *bool { return &s.Off.LookupTables }),
	technique("matched_keys", "take the keys of a join's match from the row at hand, not from the tuple",
		func(s *Settings) *bool { return &s.Off.MatchedKeys }),
	technique("match_queue", "let all multiprocessors of a GPU share the matches of rows that have very many, by a queue",
		func(s *Settings) *bool { return &s.Off.MatchQueue }),
	technique("kernel_optimizer", "let the driver of a GPU optimize kernels when it assembles them",
		func(s *Settings) *bool { return &s.Off.Assembler }),
	technique("quick_kernels", "begin a query of few rows, which waits for the driver of a GPU, with kernels that are not optimized",
		func(s *Settings) *bool { return &s.Off.QuickKernels }),
	{"memory_limit", "memory a statement may take, such as '4GB'; 0 is no limit but that of the process",
		func(s *Settings) string { return formatBytes(s.Memory) },
		func(s *Settings, v types.Value) (err error) { s.Memory, err = ParseBytes(v.String()); return }},
	technique("memory_pool", "use the memory of finished queries again, without asking the system",
		func(s *Settings) *bool { return &s.Off.MemoryPool }),
	{"morsel_rows", "rows per morsel; 0 adapts to the time that they take",
		func(s *Settings) string { return strconv.Itoa(s.MorselRows) },
		func(s *Settings, v types.Value) (err error) { s.MorselRows, err = intOf(v, 0, 1<<30); return }},
	{"narrow_integers", "store integers in as few bytes as they need in tables made from now on",
		func(s *Settings) string { return onOff(s.Narrow) },
		func(s *Settings, v types.Value) (err error) { s.Narrow, err = boolOf(v); return }},
	technique("narrow_tuples", "keep integers in hash tables in as few bytes as they need",
		func(s *Settings) *bool { return &s.Off.NarrowTuples }),
	technique("packed_columns", "keep columns in a GPU's memory in fewer bits than whole bytes have, where that saves a quarter",
		func(s *Settings) *bool { return &s.Off.PackedColumns }),
	technique("packed_copies", "let columns that stream to a GPU cross the bus in as few bits as they need",
		func(s *Settings) *bool { return &s.Off.PackedCopies }),
	technique("packed_keys", "take several keys of a group for one number, where their ranges are small enough",
		func(s *Settings) *bool { return &s.Off.PackedKeys }),
	technique("early_kernels", "let a GPU begin to compile all kernels of a query at once, by what statistics tell",
		func(s *Settings) *bool { return &s.Off.EarlyKernels }),
	technique("early_places", "find the places of tuples before their values are computed, on a GPU, where every row is written",
		func(s *Settings) *bool { return &s.Off.EarlyPlaces }),
	technique("early_reads", "read all columns of rows that pass a GPU's front at once, before any is waited for",
		func(s *Settings) *bool { return &s.Off.EarlyReads }),
	{"partition", "whether a GPU first writes rows side by side with those that go to the same part of a table of groups, and then groups them part after part: off, on, auto (where the table is larger than the cache, and it pays), or a number of parts",
		func(s *Settings) string { return s.Partition.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Partition, v, phys.ParsePartition) }},
	technique("post_projection", "read columns where they are needed, not at the scan",
		func(s *Settings) *bool { return &s.Off.PostProjection }),
	{"prefilter", "whether the CPU tests the filters of scans whose columns stream to a GPU, and ships a bit a row instead of columns that only they read: off, on, or auto, where that pays",
		func(s *Settings) string { return s.Prefilter.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Prefilter, v, phys.ParsePrefilter) }},
	technique("prefetch", "fetch what later rows will need",
		func(s *Settings) *bool { return &s.Off.Prefetch }),
	technique("radix_sort", "sort by keys packed into words, digit by digit",
		func(s *Settings) *bool { return &s.Off.RadixSort }),
	technique("range_checks", "leave out the checks that statistics show to be needless",
		func(s *Settings) *bool { return &s.Off.RangeChecks }),
	{"refill", "what becomes of lanes of a GPU whose rows a scan drops: auto, off (they wait), list (rows wait in a list until there is one for each lane) or flush (rows wait behind each operator that drops some, and between the parts of a LIKE pattern)",
		func(s *Settings) string { return s.Refill.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Refill, v, phys.ParseRefill) }},
	technique("register_allocation", "keep values in registers; off: each in memory, as if there were none",
		func(s *Settings) *bool { return &s.Off.Registers }),
	{"resolve", "how lanes of a GPU come together where rows meet (sinks, results of one row, groups): auto, tuple (each row), warp, block, or segments (blocks sort rows by group)",
		func(s *Settings) string { return s.Resolve.String() },
		func(s *Settings, v types.Value) (err error) {
			s.Resolve, err = phys.ParseResolve(strings.ToLower(v.S))
			return
		}},
	technique("register_bound", "give kernels of a GPU that wait for memory no more registers than let it hold all threads, if none is spilled",
		func(s *Settings) *bool { return &s.Off.RegisterBound }),
	technique("row_front", "test several rows of a scan at a time in each lane of a GPU",
		func(s *Settings) *bool { return &s.Off.RowFront }),
	{"search", "how a GPU looks for the words of a LIKE pattern in long texts: auto, lane (each lane in its own row's) or flat (all lanes side by side, in a kernel before, which leaves a bit a row)",
		func(s *Settings) string { return s.Search.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Search, v, phys.ParseSearch) }},
	technique("semijoin_filters", "drop rows at the scan whose keys no join will find",
		func(s *Settings) *bool { return &s.Off.SemiJoins }),
	{"share", "whether CPU and GPU share the rows of a pipeline: auto (where columns stream and it pays), off, on, or the percentage of the GPU",
		func(s *Settings) string { return s.Share.String() },
		func(s *Settings, v types.Value) error { return choose(&s.Share, v, phys.ParseShare) }},
	technique("shared_sinks", "lay out what several pipelines fill for what all of them bring, not by type alone",
		func(s *Settings) *bool { return &s.Off.SharedSinks }),
	{"simd", "vector instructions of generated CPU code: auto, avx512, avx2 or off",
		func(s *Settings) string { return s.SIMD.String() },
		func(s *Settings, v types.Value) error { return s.setSIMD(v.String()) }},
	technique("sorted_runs", "take runs of rows for groups on a GPU, without a table, where a table's rows come in the order of the key",
		func(s *Settings) *bool { return &s.Off.SortedRuns }),
	technique("text_code", "make texts in generated code, not in Go",
		func(s *Settings) *bool { return &s.Off.TextCode }),
	technique("text_maps", "compute functions of texts once for each entry of a dictionary, not for each row",
		func(s *Settings) *bool { return &s.Off.TextMaps }),
	technique("thread_trial", "begin a pipeline with one thread, and wake the others if enough is left to do",
		func(s *Settings) *bool { return &s.Off.ThreadTrial }),
	{"threads", "threads per query",
		func(s *Settings) string { return strconv.Itoa(s.Threads) },
		func(s *Settings, v types.Value) (err error) { s.Threads, err = intOf(v, 1, 4096); return }},
	technique("topn_filter", "drop rows early that a LIMIT behind ORDER BY cuts off",
		func(s *Settings) *bool { return &s.Off.TopN }),
	{totalMemory, "memory that the process may take, for all sessions: tables, statements and what is kept; 0 is no limit",
		func(*Settings) string { return formatBytes(budget.Process.Limit()) },
		func(_ *Settings, v types.Value) error {
			n, err := ParseBytes(v.String())
			if err == nil {
				budget.Process.SetLimit(n)
			}
			return err
		}},
	technique("warp_room", "let warps of a GPU take room for several tuples at a time where many are written",
		func(s *Settings) *bool { return &s.Off.WarpRoom }),
	technique("wide_rows", "let lanes of a GPU take several rows of a scan that most rows pass, by wide loads",
		func(s *Settings) *bool { return &s.Off.WideRows }),
}

// SetTotalMemory bounds what the process may take, in bytes; 0 is no limit.
func SetTotalMemory(n int64) { budget.Process.SetLimit(max(n, 0)) }

// totalMemory is the one setting that is not a session's own.
const totalMemory = "total_memory_limit"

// technique is a setting that leaves a way of making code fast out.
func technique(name, doc string, off func(*Settings) *bool) setting {
	return setting{name, doc,
		func(s *Settings) string { return onOff(!*off(s)) },
		func(s *Settings, v types.Value) error {
			on, err := boolOf(v)
			if err == nil {
				*off(s) = !on
			}
			return err
		}}
}

// choose changes a setting that is one of several values, if there is one of that name.
func choose[T any](at *T, v types.Value, parse func(string) (T, error)) error {
	x, err := parse(strings.ToLower(v.String()))
	if err == nil {
		*at = x
	}
	return err
}

var deviceNames = []string{"auto", "cpu", "gpu", "simt"}

// setDevice checks a device's name.
func (s *Settings) setDevice(name string) error {
	if !slices.Contains(deviceNames, name) {
		return fmt.Errorf("there is no device %q (%s)", name, strings.Join(deviceNames, ", "))
	}
	s.Device = name
	return nil
}

func (s *Settings) setSIMD(name string) error {
	l, ok := device.ParseSIMD(strings.ToLower(name))
	if !ok {
		return fmt.Errorf("there is no level %q (auto, avx512, avx2, off)", name)
	}
	s.SIMD = l
	return nil
}

// codeSources are the values of gpu_code.
var codeSources = [...]string{exec.CodeKept: "kept", exec.CodeStored: "stored", exec.CodeNew: "new"}

func (s *Settings) setGPUCode(name string) error {
	i := slices.Index(codeSources[:], strings.ToLower(name))
	if i < 0 {
		return fmt.Errorf("%q is none of %s", name, strings.Join(codeSources[:], ", "))
	}
	s.GPUCode = exec.CodeFrom(i)
	return nil
}

func (s *Settings) setBlock(v types.Value) error {
	n, err := intOf(v, 0, 1024)
	if err == nil && n%32 != 0 {
		err = fmt.Errorf("%d threads are not whole warps of 32", n)
	}
	if err == nil {
		s.Block = n
	}
	return err
}

func (s *Settings) setDisabled(list string) error {
	off := map[string]bool{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := slices.IndexFunc(opt.Passes(), func(p opt.Pass) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no optimizer pass %q", name)
		}
		if opt.Passes()[i].Required {
			return fmt.Errorf("optimizer pass %q cannot be left out", name)
		}
		off[name] = true
	}
	s.Disabled = off
	return nil
}

func passList(m map[string]bool) string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return strings.Join(names, ",")
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func boolOf(v types.Value) (bool, error) {
	if v.Type.Kind == types.Bool {
		return v.I != 0, nil
	}
	switch strings.ToLower(v.String()) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is not on or off", v.String())
}

func intOf(v types.Value, lo, hi int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v.String()))
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%q is not a number from %d to %d", v.String(), lo, hi)
	}
	return n, nil
}

// ParseBytes reads a size such as 512MB, 4GiB or 1000000.
func ParseBytes(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	end := strings.IndexFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	unit := ""
	if end >= 0 {
		t, unit = t[:end], strings.TrimSpace(t[end:])
	}
	f, err := strconv.ParseFloat(t, 64)
	scale, ok := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	if err != nil || !ok || f < 0 || f*scale > 1<<62 {
		return 0, fmt.Errorf("%q is not a size; write it like 512MB or 4GiB", text)
	}
	return int64(f * scale), nil
}

func formatBytes(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
