package session

import "testing"

// skipRaced leaves out a test of how much memory something takes: the race detector takes its own, and hours over inputs that are large.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("the race detector takes memory of its own")
	}
}

// thin is one in eight elements of a list if the race detector runs, else all of them.
func thin[T any](list []T) []T {
	if !raced {
		return list
	}
	var out []T
	for i := 0; i < len(list); i += 8 {
		out = append(out, list[i])
	}
	return out
}
