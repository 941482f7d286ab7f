//go:build !unix

package file

func openOtherSide(string, int) bool { return false }
