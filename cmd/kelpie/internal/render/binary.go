package render

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/kelpiedb/kelpie"
)

// file prints a result as a Parquet file or a stream of Arrow's IPC format.
func (w *Writer) file(ctx context.Context, res *kelpie.Result, o Options) error {
	switch {
	case o.Width > 0:
		return fmt.Errorf(`%s is not for a terminal; write it to a file: \o FILE, or > FILE behind the command`, o.Format)
	case w.seen > 1:
		return fmt.Errorf("a file in %s format holds one result, and this is another", o.Format)
	case o.Format == "parquet":
		return res.WriteParquet(ctx, w.out)
	}
	out := ipc.NewWriter(w.out, ipc.WithSchema(res.Schema()))
	for b, err := range res.Batches() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = out.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}
