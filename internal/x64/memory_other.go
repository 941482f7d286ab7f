//go:build !linux || !amd64

package x64

import "errors"

const canRun = false

type block struct{ write []byte }

type arena struct{}

var codeMemory arena

func (*arena) alloc(int) (block, error)    { return block{}, errors.ErrUnsupported }
func (*arena) seal(block) (uintptr, error) { return 0, errors.ErrUnsupported }
func (*arena) free(block)                  {}
