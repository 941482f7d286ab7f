package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// watch is \watch: it runs the statement that has begun, or the last, again and again, until it fails, the user ends it, or it
// has run as often as was said. Its words are psql's: \watch 5, \watch i=0.5 c=3.
func (r *runner) watch(ctx context.Context, arg string) error {
	pause, times, err := watchArgs(arg)
	if err != nil {
		return err
	}
	it, err := r.pendingOrLast()
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if err := r.say(fmt.Sprintf("%s (every %s)", time.Now().Format(time.DateTime), pause)); err != nil {
			return err
		}
		if err := r.statement(ctx, it); err != nil || n == times {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// watchArgs is how long to wait between runs, and how many there are; 0 is any number.
func watchArgs(arg string) (pause time.Duration, times int, err error) {
	pause = 2 * time.Second
	for _, word := range strings.Fields(arg) {
		name, value, named := strings.Cut(word, "=")
		switch {
		case !named:
			name, value = "i", word
			fallthrough
		case name == "i" || name == "interval":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil || !(seconds >= 0 && seconds <= 1e6) {
				return 0, 0, fmt.Errorf("%q is no number of seconds", value)
			}
			pause = time.Duration(seconds * float64(time.Second))
		case name == "c" || name == "count":
			if times, err = strconv.Atoi(value); err != nil || times < 1 {
				return 0, 0, fmt.Errorf("%q is no number of times", value)
			}
		default:
			return 0, 0, fmt.Errorf("\\watch has no %q", name)
		}
	}
	return pause, times, nil
}
