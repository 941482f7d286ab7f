package session

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
