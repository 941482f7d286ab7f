package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// File is a file as a table, which is read while the query runs. Only a text file that is small is loaded
// here. What is known of a file holds until it changes.
func (e env) File(f bind.FileRef, pos int) (*catalog.Table, error) {
	t, err := e.s.DB.files.table(e.ctx, e.s, f)
	return t, atPos(err, pos)
}

// cacheBytes bounds what is kept of files from query to query.
const cacheBytes = 1 << 30

// fileTables keeps what is known of files that queries have named.
type fileTables struct {
	mu     sync.Mutex
	tables map[fileName]*fileTable
	chunks *file.Cache
}

type fileName struct {
	ref   string // all that was said of it
	trust bool   // statistics in the file are used
	small bool   // a small file is loaded
}

type fileTable struct {
	state []file.Info
	table *catalog.Table
}

// mostFiles bounds the tables that are kept.
const mostFiles = 256

func (c *fileTables) table(ctx context.Context, s *Session, ref bind.FileRef) (*catalog.Table, error) {
	set := s.Settings()
	state, err := file.Stat(pathOf(ref))
	if err != nil {
		return nil, err
	}
	name := fileName{fmt.Sprintf("%#v", ref), set.FileStatistics, set.FileBlock == 0}
	c.mu.Lock()
	if c.tables == nil {
		c.tables, c.chunks = map[fileName]*fileTable{}, file.NewCache(cacheBytes)
	}
	f := c.tables[name]
	c.mu.Unlock()
	if ref.Rejects.Store { // each query finds them again
		return c.open(ctx, &set, ref)
	}
	if f != nil && slices.EqualFunc(f.state, state, func(a, b file.Info) bool { return a.Same(&b) }) && (set.FileCache || f.table.Snapshot().External != nil) {
		return f.table, nil
	}
	// Others need not wait while this file is looked at, which may take long if it is a pipe.
	src, t, err := c.read(ctx, &set, ref, readingOf(ref))
	if err != nil || src.Once() || !set.FileCache && t.Snapshot().External == nil {
		return t, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tables) >= mostFiles {
		clear(c.tables)
	}
	c.tables[name] = &fileTable{state: src.Files(), table: t}
	return t, nil
}

// open is a table of which nothing is kept, and that notes what cannot be read.
func (c *fileTables) open(ctx context.Context, set *Settings, ref bind.FileRef) (*catalog.Table, error) {
	opts := readingOf(ref)
	opts.Rejects = &file.Rejects{Account: budget.New(set.Memory)}
	rejecting(ctx).add(ref.Rejects, opts.Rejects, &opts)
	_, t, err := c.read(ctx, set, ref, opts)
	return t, err
}

// read looks at a file and makes a table of it. A small text file is loaded.
func (c *fileTables) read(ctx context.Context, set *Settings, ref bind.FileRef, opts file.Options) (*file.Source, *catalog.Table, error) {
	src, err := file.OpenContext(ctx, pathOf(ref), opts)
	if err != nil {
		return nil, nil, err
	}
	if !src.Small() || set.FileBlock > 0 && src.Format() != file.Arrow {
		return src, src.Table(ref.Path, set.FileStatistics, c.chunks), nil
	}
	t := catalog.NewTable(ref.Path, src.Columns(), nil, column.Options{Narrow: set.Narrow, Dict: set.Dict})
	load := file.LoadOptions{Account: budget.New(set.Memory), Threads: set.Threads, Columns: readable(src)}
	if _, err := src.Load(ctx, t, load); err != nil {
		return nil, nil, err
	}
	return src, t, nil
}

// readable are the columns of a file, without those that there is no SQL type for: they can be listed.
func readable(src *file.Source) []int {
	out := make([]int, len(src.Columns()))
	for i, c := range src.Columns() {
		if out[i] = i; c.Foreign != nil && c.Foreign.Unreadable {
			out[i] = -1
		}
	}
	return out
}

// pathOf is all files that a reference means, as the file room has them.
func pathOf(ref bind.FileRef) string {
	return strings.Join(append([]string{ref.Path}, ref.More...), file.ListSeparator)
}

// Paths are the files one by one.
func (e env) Paths(ref bind.FileRef) ([]string, error) {
	infos, err := file.Stat(pathOf(ref))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range infos {
		out = append(out, i.Path)
	}
	return out, nil
}

// readingOf is what is said of a file, as the file room has it.
func readingOf(ref bind.FileRef) file.Options {
	o := file.Options{Format: fileFormats[ref.Format], Header: ref.Header, HasHeader: ref.HasHeader,
		Delimiter: ref.Delimiter, Quote: ref.Quote, Escape: ref.Escape, SampleRows: ref.SampleRows, AllText: ref.AllText,
		Skip: ref.Skip, Comment: ref.Comment, Names: ref.Names, IgnoreErrors: ref.IgnoreErrors, Filename: ref.Filename, NoFolders: ref.NoFolders, Encoding: file.Encoding(ref.Encoding)}
	if len(ref.Nulls) > 0 {
		o.Null, o.HasNull, o.Nulls = ref.Nulls[0], true, ref.Nulls[1:]
	}
	for i, t := range ref.Types {
		o.Types = append(o.Types, file.TypeOf{Name: t.Name, At: i, Type: t.Type})
	}
	for _, c := range ref.Columns {
		o.Columns, o.Named = append(o.Columns, catalog.ColumnDef{Name: c.Name, Type: c.Type}), true
	}
	if format := ref.DateFormat; format != "" {
		o.ParseDate = func(text string) (types.Value, error) {
			v, err := funcs.Strptime(text, format)
			if err != nil {
				return v, err
			}
			return types.Cast(v, types.TDate)
		}
	}
	if format := ref.TimestampFormat; format != "" {
		o.ParseTime = func(text string) (types.Value, error) { return funcs.Strptime(text, format) }
	}
	return o
}

// openFiles opens the scans of a plan that read files.
func openFiles(ctx context.Context, q *plan.Query, set *Settings, acct *budget.Account) error {
	opts := catalog.ScanOptions{Cache: set.FileCache, Once: set.readOnce, Account: acct, Narrow: set.Narrow, Dict: set.Dict, SIMD: set.FileSIMD, Map: set.FileMap, Block: set.FileBlock}
	openers := map[catalog.External]catalog.Opener{}
	var err error
	visit := func(n plan.Node) bool {
		scan, ok := n.(*plan.Scan)
		if !ok || err != nil || scan.Snap == nil || scan.Snap.External == nil {
			return err == nil
		}
		ext := scan.Snap.External
		if openers[ext] == nil {
			openers[ext] = ext.Begin(opts)
		}
		var tested plan.ColSet
		for _, x := range scan.Filter {
			plan.AddRefs(&tested, x)
		}
		for _, r := range scan.Reduce {
			tested.Add(r.Col)
		}
		var ords []int
		for k, id := range scan.Cols {
			if tested.Has(id) {
				ords = append(ords, scan.Ordinal[k])
			}
		}
		table := scan.Snap.Table
		for _, ord := range scan.Ordinal {
			if f := table.Columns[ord].Foreign; f != nil && f.Unreadable {
				err = bind.Unreadable(&table.Columns[ord], diag.NoPos)
				return false
			}
		}
		if scan.Snap, err = openers[ext].Open(ctx, scan.Ordinal, ords); err == nil {
			scan.Snap.Table = table
		}
		return true
	}
	plan.WalkNode(q.Root, visit)
	for _, sh := range q.Shared {
		plan.WalkNode(sh.Plan, visit)
	}
	return err
}
