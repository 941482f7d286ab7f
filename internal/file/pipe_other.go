//go:build !unix

package file

import (
	"context"
	"os"
)

func openWhenReady(_ context.Context, path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag, 0)
}
