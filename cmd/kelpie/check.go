package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

const checkHelp = `Asks each query of a benchmark on the CPU and then on another device, and
compares the rows: as sets, or in their order where the query asks for one;
floating-point numbers may differ by a part in 10^9. What was found of a query
is printed when it has been asked for the last time.

Usage:
  kelpie check tpch|ssb|more --device gpu [flags]

Flags:
  --sf N             scale factor (default 1)
  --queries LIST     only these, such as q1,q6
  --repeat N         how often each query is asked on the device (default 1)
  --clients N        how many sessions ask all queries at once (default 1)
  --strict           a query that is left to the CPU counts as wrong, too
  --switches each    ask each query with every value of every switch: fuse,
                     expand, refill, resolve, groups, feed, prefilter, share …
  --switches SEED    draw all switches anew each time that a query is asked
                     In both, clients divide the work among themselves.
` + engineHelp

// verdict is what was found of a query.
type verdict struct {
	wrong string // the first difference or error
	onCPU string // why the CPU did it
	asked int    // times
	took  time.Duration
}

func checkCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	engine.register(fs)
	sf := fs.Float64("sf", 1, "")
	repeat := fs.Int("repeat", 1, "")
	clients := fs.Int("clients", 1, "")
	strict := fs.Bool("strict", false, "")
	switches := fs.String("switches", "", "")
	only := fs.String("queries", "", "")
	words, err := parseFlags(fs, args, checkHelp)
	if err != nil {
		return err
	}
	s, err := findSuite("check", words)
	if err != nil {
		return err
	}
	if err := checkScale(*sf); err != nil {
		return err
	}
	if *repeat < 1 || *clients < 1 {
		return usagef("--repeat and --clients must be 1 or more")
	}
	if s.queries, err = choose(s.queries, *only); err != nil {
		return err
	}
	ways, err := waysFor(*switches, len(s.queries), *repeat)
	if err != nil {
		return err
	}
	if engine.device == "" || engine.device == "cpu" {
		return usagef("check compares a device with the CPU: --device gpu, or simt")
	}
	meter := newProgress(os.Stderr)
	db, err := engine.open(meter.option())
	if err != nil {
		return err
	}
	defer db.Close()
	if engine.device == "cpu" {
		return errors.New("there is no device to compare the CPU with")
	}
	r := &runner{session: db.Session(), progress: meter}
	if _, err := r.session.Exec(ctx, "set device = 'cpu'"); err != nil {
		return err
	}
	if _, err := s.load(ctx, r, *sf); err != nil {
		return err
	}
	start := time.Now()
	fmt.Printf("%s at scale factor %v on %s: the tables are there\n", s.name, *sf, engine.device)
	want := make([]*rowSet, len(s.queries))
	for i, q := range s.queries {
		r.progress.prefix = q.Name
		err := r.progress.during(func() (err error) { want[i], err = askRows(ctx, r.session, q); return })
		if err != nil {
			return failed(ctx, err, source{q.Name, q.SQL})
		}
	}
	fmt.Printf("%s: the CPU has answered, in %.1f s\n", s.name, time.Since(start).Seconds())
	c := &checking{db: db, queries: s.queries, want: want, clients: *clients, repeat: *repeat, ways: ways, tell: func(q *gen.Query, v *verdict) { v.print(s.name, q.Name) }}
	found := c.askAtOnce(ctx)
	return verdicts(s.name, *sf, engine.device, found, c.times(), *strict, time.Since(start))
}

// waysFor are the ways in which each of n queries is asked; nil: all as the settings are.
func waysFor(switches string, n, repeat int) ([][]techniques.Way, error) {
	if switches == "" {
		return nil, nil
	}
	out := make([][]techniques.Way, n)
	if switches == "each" {
		for i := range out {
			out[i] = slices.Repeat(techniques.EachWay(), repeat)
		}
		return out, nil
	}
	seed, err := strconv.ParseUint(switches, 10, 64)
	if err != nil {
		return nil, usagef("--switches %s: each, or the seed by which they are drawn", switches)
	}
	draw := rand.New(rand.NewPCG(seed, 12))
	for i := range out {
		for range repeat {
			out[i] = append(out[i], techniques.DrawWay(draw))
		}
	}
	return out, nil
}

// checking is a comparison that is under way.
type checking struct {
	db              *kelpie.DB
	queries         []gen.Query
	want            []*rowSet
	clients, repeat int
	ways            [][]techniques.Way             // of each query, by number; nil: they are asked as the settings are, by all clients
	tell            func(q *gen.Query, v *verdict) // what was found of a query that nobody asks any more
}

// turn is a query, by number, and how it is asked.
type turn struct {
	query int
	way   techniques.Way
}

// turns are those of a client, in an order of its own.
func (c *checking) turns(client int) (out []turn) {
	n := len(c.queries)
	if c.ways == nil {
		for k := range c.repeat * n {
			out = append(out, turn{query: (k/c.repeat + client*n/c.clients) % n})
		}
		return out
	}
	for i, ways := range c.ways {
		for k := range ways {
			if (i+k)%c.clients == client {
				out = append(out, turn{i, ways[k]})
			}
		}
	}
	return out
}

// times is how often each query is asked.
func (c *checking) times() int {
	if c.ways == nil {
		return c.clients * c.repeat
	}
	return len(c.ways[0])
}

// ask asks for the rows of a query in its way.
func (c *checking) ask(ctx context.Context, s *kelpie.Session, t turn) (*rowSet, error) {
	for name, value := range t.way {
		if _, err := s.Exec(ctx, fmt.Sprintf("set %s = '%s'", name, value)); err != nil {
			return nil, err
		}
	}
	rows, err := askRows(ctx, s, c.queries[t.query])
	for name := range t.way {
		if _, again := s.Exec(ctx, "reset "+name); err == nil {
			err = again
		}
	}
	if err != nil && t.way != nil {
		err = fmt.Errorf("%s: %w", t.way, err)
	}
	return rows, err
}

// askAtOnce asks all queries in several sessions, and compares.
func (c *checking) askAtOnce(ctx context.Context) []verdict {
	found := make([]verdict, len(c.queries))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for client := range c.clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := c.db.Session()
			for _, t := range c.turns(client) {
				i, start := t.query, time.Now()
				var wrong, onCPU string
				got, err := c.ask(ctx, s, t)
				if err != nil {
					wrong = err.Error()
				} else if wrong, onCPU = c.want[i].differs(got), got.notices; wrong != "" && t.way != nil {
					wrong = fmt.Sprintf("%s: %s", t.way, wrong)
				}
				mu.Lock()
				v := &found[i]
				v.asked++
				v.took += time.Since(start)
				if wrong != "" && v.wrong == "" {
					v.wrong = wrong
				}
				if onCPU != "" {
					v.onCPU = onCPU
				}
				if v.asked == c.times() {
					c.tell(&c.queries[i], v)
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return found
}

// print says what was found of a query. Standard output has no buffer: what was printed stays if the command is ended.
func (v *verdict) print(suite, query string) {
	if v.onCPU != "" {
		fmt.Printf("%s %s: %s\n", suite, query, v.onCPU)
	}
	if v.wrong != "" {
		fmt.Printf("%s %s is WRONG: %s\n", suite, query, strings.ReplaceAll(v.wrong, "\n", "\n  "))
	} else {
		fmt.Printf("%s %s: the CPU's rows, %d time%s in %.2f s\n", suite, query, v.asked, plural(v.asked), v.took.Seconds())
	}
}

// verdicts sums up what was found; wrong rows are an error.
func verdicts(suite string, sf float64, device string, found []verdict, asked int, strict bool, took time.Duration) error {
	wrong, onCPU, refused := 0, 0, 0
	for _, v := range found {
		if v.onCPU != "" {
			onCPU++
			if !strings.Contains(v.onCPU, "WITH RECURSIVE") { // which is the CPU's on purpose
				refused++
			}
		}
		if v.wrong != "" {
			wrong++
		}
	}
	fmt.Printf("%s at scale factor %v on %s: %d of %d queries give the CPU's rows, each asked %d time%s; %d ran on the CPU; %.1f s\n", suite, sf, device,
		len(found)-wrong, len(found), asked, plural(asked), onCPU, took.Seconds())
	if wrong > 0 || strict && refused > 0 {
		return errReported{errors.New("the devices differ")}
	}
	return nil
}

// askRows runs a query and keeps its rows.
func askRows(ctx context.Context, s *kelpie.Session, q gen.Query) (*rowSet, error) {
	res, err := s.Query(ctx, q.SQL)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	set := &rowSet{notices: strings.Join(slices.DeleteFunc(slices.Clone(res.Notices()), func(n string) bool { return !strings.Contains(n, "runs on the CPU") }), "; "),
		ordered: orderedText(q.SQL)}
	if res.Len() > maxRows {
		return set, set.addLarge(res)
	}
	for res.Next() {
		set.add(res.Values())
	}
	return set, res.Err()
}
