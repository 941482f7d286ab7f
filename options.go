package kelpie

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
)

// Option is a setting of Open.
type Option func(*config)

// config is what options write. Zero means: as session.DefaultSettings has it.
type config struct {
	settings []setting
	progress func(Progress)
	log      *slog.Logger
	total    *int64 // nil: as it is
}

// setting is a SET that every session of the database begins with.
type setting struct{ name, value string }

func set(name, value string) Option {
	return func(c *config) { c.settings = append(c.settings, setting{name, value}) }
}

// WithThreads bounds the threads of a query. Without it a query uses all processors.
func WithThreads(n int) Option { return set("threads", strconv.Itoa(n)) }

// WithMemoryLimit bounds the bytes that one statement may take: hash tables, sorting, results, buffers of
// files, tables while they are filled. A statement that needs more fails with SQLSTATE 53200. Zero, the
// default, is no limit but that of the process.
func WithMemoryLimit(bytes int64) Option { return set("memory_limit", strconv.FormatInt(bytes, 10)) }

// WithTotalMemory bounds the bytes that all databases of the process may take together: tables, statements,
// and what is kept for later ones, which goes first. A statement for which nothing is left fails with
// SQLSTATE 53200. The default is 80 % of the memory of the machine or of the container; zero is no limit.
func WithTotalMemory(bytes int64) Option { return func(c *config) { c.total = &bytes } }

// WithDevice says where queries run: "cpu", "gpu", "simt", or "auto", which chooses between the first two for each query. What a GPU
// cannot do, or fails at, the CPU does, and Result.Notices says why. The default is the first of Devices.
func WithDevice(name string) Option { return set("device", name) }

// WithGPUMemory bounds the bytes that columns may take in a GPU's memory, where they stay between queries. Those that were not used for the
// longest time go first; of a query whose own columns take more, some are streamed while it runs. Zero, the default, is what the GPU has.
func WithGPUMemory(bytes int64) Option {
	return set("gpu_memory_limit", strconv.FormatInt(bytes, 10))
}

// WithProgress asks to be told how far running statements are. f is called from one goroutine
// at a time for each session and not more often than every 20 ms; it must be quick.
func WithProgress(f func(Progress)) Option {
	return func(c *config) { c.progress = f }
}

// WithLogger says where bugs of ours are written (errors with SQLSTATE XX000): the message, the
// statement, and the stack of the goroutine, which no message to a user carries. Without it
// nothing is written, and Error.Stack still has the stack.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.log = l }
}

// logBug writes an internal error to the log.
func (c *config) logBug(ctx context.Context, err error, statement string) {
	var e *Error
	if c.log == nil || !errors.As(err, &e) || e.Code != diag.InternalError {
		return
	}
	c.log.ErrorContext(ctx, e.Message, "statement", statement, "stack", string(e.Stack()))
}

// Progress is how far a statement is. A query has several stages, each with rows of its own to
// work through.
type Progress struct {
	Stage       string // such as "running", "reading" or "generating lineitem"
	Done, Total int64  // of the stage's work, in a measure of its own: rows, or bytes of a file
	Rows        int64  // that were read, made or written so far; 0 if nobody counts them
}

// apply gives a session the database's defaults.
func (c *config) apply(s *session.Session) error {
	for _, x := range c.settings {
		if err := s.SetDefault(x.name, x.value); err != nil {
			return err
		}
	}
	if c.progress != nil {
		s.Progress = throttle(c.progress)
	}
	return nil
}

// throttle makes f quiet and lets one goroutine in at a time: the engine reports after every
// morsel, from any of its workers.
func throttle(f func(Progress)) func(stage string, done, total, rows int64) {
	var mu sync.Mutex
	var last time.Time
	return func(stage string, done, total, rows int64) {
		if !mu.TryLock() {
			return // another worker is reporting: as good
		}
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= 20*time.Millisecond {
			last = now
			f(Progress{stage, done, total, rows})
		}
	}
}
