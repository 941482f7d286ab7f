//go:build !race

package session

const raced = false
