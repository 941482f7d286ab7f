package file

import "golang.org/x/sys/cpu"

var haveDeltas = cpu.X86.HasAVX2

// sumDeltas adds groups of eight bit-packed differences up. Sixteen bytes can be read from wherever the fourth of the last begins.
//
//go:noescape
func sumDeltas(dst *uint32, src *byte, l *deltaLanes, groups int, s *deltaSum)
