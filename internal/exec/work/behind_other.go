//go:build !linux

package work

// GiveWay does nothing where threads have no priorities of their own.
func GiveWay() {}
