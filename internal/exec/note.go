package exec

func itoa(n int64) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// plural is a count of things as text.
func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return itoa(n) + " " + what
}
