package file

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// arrowEncoder writes batches as they are, in Arrow's file or stream format.
type arrowEncoder struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

func newArrowEncoder(out io.Writer, opts Options) (*arrowEncoder, error) {
	if opts.Schema == nil {
		return nil, diag.Internalf("write arrow", "there is no schema")
	}
	options := []ipc.Option{ipc.WithSchema(opts.Schema)}
	switch opts.Compression {
	case "", "none", "uncompressed":
	case "zstd":
		options = append(options, ipc.WithZstd())
	case "lz4":
		options = append(options, ipc.WithLZ4())
	default:
		return nil, diag.Unsupported(diag.NoPos, "compression %q of Arrow files", opts.Compression)
	}
	if opts.Stream {
		return &arrowEncoder{ipc.NewWriter(out, options...)}, nil
	}
	w, err := ipc.NewFileWriter(out, options...)
	return &arrowEncoder{w}, err
}

func (e *arrowEncoder) write(rec arrow.RecordBatch) error { return e.w.Write(rec) }
func (e *arrowEncoder) finish() error                     { return e.w.Close() }
