package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie"
)

// Statements that are done in patience's time show no progress line: it would only flicker.
const (
	patience = 500 * time.Millisecond
	redraw   = 100 * time.Millisecond
)

// progress is the line at the bottom of a terminal that tells how far a long statement is.
type progress struct {
	out    *os.File // nil: not a terminal, nothing is shown
	prefix string   // what is going on, in the words of the command

	mu     sync.Mutex
	latest kelpie.Progress
}

func newProgress(out *os.File) *progress {
	if !isTerminal(out) {
		return &progress{}
	}
	return &progress{out: out}
}

// option lets the engine tell the progress line how far it is.
func (p *progress) option() kelpie.Option {
	return kelpie.WithProgress(func(x kelpie.Progress) {
		p.mu.Lock()
		p.latest = x
		p.mu.Unlock()
	})
}

// during runs f and shows the line while it takes long.
func (p *progress) during(f func() error) error {
	if p.out == nil {
		return f()
	}
	p.mu.Lock()
	p.latest = kelpie.Progress{}
	p.mu.Unlock()
	done, erased := make(chan struct{}), make(chan struct{})
	go p.draw(done, erased)
	defer func() {
		close(done)
		<-erased
	}()
	return f()
}

func (p *progress) draw(done, erased chan struct{}) {
	defer close(erased)
	start := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for shown := false; ; shown = true {
		select {
		case <-done:
			if shown {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-timer.C:
			timer.Reset(redraw)
			p.mu.Lock()
			line := progressLine(p.prefix, p.latest, time.Since(start))
			p.mu.Unlock()
			// One column is left free: a line that fills the terminal would wrap.
			if w := columns(p.out) - 1; len([]rune(line)) > w {
				line = string([]rune(line)[:max(w, 0)])
			}
			fmt.Fprint(p.out, "\r"+line+"\x1b[K")
		}
	}
}

// progressLine is such as "q9 running ███████░░░░░  58%  1,234,567 rows  1.2 s".
func progressLine(prefix string, p kelpie.Progress, took time.Duration) string {
	const bar = 24
	words := strings.TrimSpace(prefix + " " + p.Stage)
	if words == "" {
		words = "running"
	}
	rows := ""
	if p.Rows > 0 {
		rows = fmt.Sprintf("  %s row%s", thousands(p.Rows), plural(int(p.Rows)))
	}
	if p.Total <= 0 {
		return fmt.Sprintf("%s%s  %.1f s", words, rows, took.Seconds())
	}
	part := min(float64(p.Done)/float64(p.Total), 1)
	full := int(part * bar)
	return fmt.Sprintf("%s %s%s %3.0f%%%s  %.1f s", words,
		strings.Repeat("█", full), strings.Repeat("░", bar-full), part*100, rows, took.Seconds())
}

// ms is a time in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
