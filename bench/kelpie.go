package main

import (
	"context"
	"fmt"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/types"
)

// engine is what the two have in common.
type engine interface {
	name() string
	// drain runs a text and fetches all rows of its result in the form in which the engine hands
	// them out, without looking at them.
	drain(sql string) error
	// scan runs a text and hands every row of its result to f, which may keep it.
	scan(sql string, f func(row []types.Value)) error
	// rows runs a text and reads all rows of its result.
	rows(sql string) ([][]types.Value, error)
}

// kelpie is a Kelpie in memory with one session.
type kelpie struct{ s *session.Session }

func openKelpie() *kelpie { return &kelpie{session.New(session.NewDB())} }

// another is a session of its own, with settings of its own, on the same tables.
func (k *kelpie) another() *kelpie { return &kelpie{session.New(k.s.DB)} }

func (k *kelpie) name() string { return "kelpie" }

func (k *kelpie) drain(sql string) error {
	res, err := k.s.Query(context.Background(), sql)
	if err != nil {
		return err
	}
	defer res.Close()
	for {
		b, err := res.Next()
		if b == nil || err != nil {
			return err
		}
		b.Release()
	}
}

func (k *kelpie) scan(sql string, f func(row []types.Value)) error {
	res, err := k.s.Query(context.Background(), sql)
	if err != nil {
		return err
	}
	defer res.Close()
	for {
		rows := res.Take(session.BatchRows)
		if len(rows) == 0 {
			return nil
		}
		for _, row := range rows {
			f(row)
		}
	}
}

// A statement whose rows are read must be of a bearable size: random ones may not be.
const (
	mostRows = 200_000
	mostTime = 20 * time.Second
)

func (k *kelpie) rows(sql string) ([][]types.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), mostTime)
	defer cancel()
	res, err := k.s.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Rows > mostRows {
		return nil, diag.Errorf(diag.OutOfMemory, -1, "a result of %d rows", res.Rows)
	}
	return res.Values(), nil
}

// setThreads gives both engines as many threads.
func setThreads(n int, of ...engine) error {
	for _, e := range of {
		if err := e.drain(fmt.Sprintf("SET threads = %d", n)); err != nil {
			return fmt.Errorf("%s: %w", e.name(), err)
		}
	}
	return nil
}
