package main

import (
	"context"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/session"
	"github.com/kelpiedb/kelpie/internal/types"
)

// engine is what the two have in common.
type engine interface {
	name() string
	// drain runs a text and fetches all rows of its result in the form in which the engine hands
	// them out, without looking at them.
	drain(sql string) error
	// rows runs a text and reads all rows of its result.
	rows(sql string) ([][]types.Value, error)
}

// kelpie is a Kelpie in memory with one session.
type kelpie struct{ s *session.Session }

func openKelpie() *kelpie { return &kelpie{session.New(session.NewDB())} }

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

func (k *kelpie) rows(sql string) ([][]types.Value, error) {
	res, err := k.s.Query(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	defer res.Close()
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
