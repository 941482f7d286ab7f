//go:build !amd64

package file

const haveDeltas = false

func sumDeltas(*uint32, *byte, *deltaLanes, int, *deltaSum) { panic("no vector instructions") }
