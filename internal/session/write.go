package session

import (
	"context"
	"io"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/file"
)

// WriteParquet writes the rows that are left as a Parquet file.
func (r *Result) WriteParquet(ctx context.Context, out io.Writer) error {
	w, err := file.NewStreamWriter(out, file.Parquet, r.columnDefs(), file.Options{})
	if err != nil {
		return err
	}
	return r.writeTo(ctx, w, nil)
}

// columnDefs are the columns of a table that could hold the rows.
func (r *Result) columnDefs() []catalog.ColumnDef {
	cols := make([]catalog.ColumnDef, len(r.Columns))
	for i, c := range r.Columns {
		cols[i] = catalog.ColumnDef{Name: c.Name, Type: c.Type, NotNull: !c.Nullable}
	}
	return cols
}

// writeTo writes the rows that are left, completes the file, and tells how far it is if anybody asks.
func (r *Result) writeTo(ctx context.Context, w file.Writer, progress func(stage string, done, total, rows int64)) error {
	for written := int64(0); ; {
		rec, err := r.Next()
		if err == nil && ctx.Err() != nil {
			err = diag.Canceled(ctx)
		}
		if err == nil && rec != nil {
			err = w.Write(rec)
			written += rec.NumRows()
			rec.Release()
			if progress != nil {
				progress("writing", written, r.Rows, written)
			}
		}
		switch {
		case err != nil:
			w.Abort()
			return err
		case rec == nil:
			return w.Close()
		}
	}
}
