package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
)

// Several clients at once: does their device do as much as for one after the other, and does it serve all alike?

// maxClients bounds --clients.
const maxClients = 256

// clientsMeasurement is what one client did by itself, and several at once. A round is all queries once.
type clientsMeasurement struct {
	Clients  int     `json:"clients"`
	Rounds   int     `json:"rounds"` // of each client
	Alone    float64 `json:"queries_per_s_alone"`
	Together float64 `json:"queries_per_s_together"`
	Ratio    float64 `json:"together_over_alone"`
	Fastest  float64 `json:"fastest_client_ms"` // for its rounds
	Slowest  float64 `json:"slowest_client_ms"`
	// Longest is the longest that any query took, and its name.
	Longest     float64 `json:"longest_query_ms"`
	LongestName string  `json:"longest_query"`
	// LongestAlone is the longest that a query took the only client.
	LongestAlone float64 `json:"longest_query_alone_ms"`
}

// clientRun is what one client saw.
type clientRun struct {
	took    time.Duration
	longest time.Duration
	name    string
	err     error
}

// measureClients prints throughputs.
func measureClients(ctx context.Context, db *kelpie.DB, queries []gen.Query, clients, rounds int, out io.Writer) (*clientsMeasurement, error) {
	if _, err := atOnce(ctx, db, queries, 1, 1); err != nil { // to warm up
		return nil, err
	}
	// What many sessions need beyond what one does, such as memory of the device, is there then, too.
	if _, err := atOnce(ctx, db, queries, clients, 1); err != nil {
		return nil, err
	}
	start := time.Now()
	alone, err := atOnce(ctx, db, queries, 1, rounds)
	if err != nil {
		return nil, err
	}
	one := time.Since(start)
	start = time.Now()
	together, err := atOnce(ctx, db, queries, clients, rounds)
	if err != nil {
		return nil, err
	}
	all := time.Since(start)
	m := &clientsMeasurement{Clients: clients, Rounds: rounds, LongestAlone: ms(alone[0].longest)}
	m.Alone = float64(rounds*len(queries)) / one.Seconds()
	m.Together = float64(clients*rounds*len(queries)) / all.Seconds()
	m.Ratio = m.Together / m.Alone
	slices.SortFunc(together, func(a, b clientRun) int { return int(a.took - b.took) })
	m.Fastest, m.Slowest = ms(together[0].took), ms(together[clients-1].took)
	worst := slices.MaxFunc(together, func(a, b clientRun) int { return int(a.longest - b.longest) })
	m.Longest, m.LongestName = ms(worst.longest), worst.name
	fmt.Fprintf(out, " %-22s %10s %12s\n", "", "1 client", fmt.Sprintf("%d clients", clients))
	row := func(name, one, all string) { fmt.Fprintf(out, " %-22s %10s %12s\n", name, one, all) }
	row("queries per second", number(m.Alone), number(m.Together))
	row("fastest client, ms", number(ms(alone[0].took)), number(m.Fastest))
	row("slowest client, ms", "", number(m.Slowest))
	row("longest query, ms", number(m.LongestAlone), number(m.Longest)+" ("+m.LongestName+")")
	fmt.Fprintf(out, " together %.0f %% of what one after the other does\n", 100*m.Ratio)
	return m, nil
}

// atOnce lets clients run all queries so many times, each of which begins with another query.
func atOnce(ctx context.Context, db *kelpie.DB, queries []gen.Query, clients, rounds int) ([]clientRun, error) {
	runs := make([]clientRun, clients)
	var wg sync.WaitGroup
	for i := range runs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runs[i] = oneClient(ctx, db, queries, i*len(queries)/clients, rounds)
		}()
	}
	wg.Wait()
	for _, r := range runs {
		if r.err != nil {
			return nil, r.err
		}
	}
	return runs, nil
}

func oneClient(ctx context.Context, db *kelpie.DB, queries []gen.Query, first, rounds int) (r clientRun) {
	s := db.Session()
	if _, r.err = s.Exec(ctx, "set quick_kernels = off"); r.err != nil {
		return r
	}
	start := time.Now()
	for i := range rounds * len(queries) {
		q := queries[(first+i)%len(queries)]
		began := time.Now()
		res, err := s.Query(ctx, q.SQL)
		if err != nil {
			r.err = failed(ctx, err, source{q.Name, q.SQL})
			return r
		}
		res.Close()
		if took := time.Since(began); took > r.longest {
			r.longest, r.name = took, q.Name
		}
	}
	r.took = time.Since(start)
	return r
}
