package kelpie

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// reader is a result as an array.RecordReader.
type reader struct {
	r     *Result
	refs  atomic.Int64
	batch arrow.RecordBatch
	err   error
}

func newReader(r *Result) *reader {
	rd := &reader{r: r}
	rd.refs.Store(1)
	return rd
}

func (rd *reader) Retain() { rd.refs.Add(1) }

func (rd *reader) Release() {
	if rd.refs.Add(-1) == 0 {
		rd.drop()
		rd.r.Close()
	}
}

func (rd *reader) drop() {
	if rd.batch != nil {
		rd.batch.Release()
		rd.batch = nil
	}
}

func (rd *reader) Schema() *arrow.Schema { return rd.r.Schema() }

func (rd *reader) Next() bool {
	rd.drop()
	if rd.err == nil {
		rd.batch, rd.err = rd.r.next()
	}
	return rd.batch != nil
}

func (rd *reader) RecordBatch() arrow.RecordBatch { return rd.batch }

// Record is the interface's older name for RecordBatch.
func (rd *reader) Record() arrow.RecordBatch { return rd.batch }

func (rd *reader) Err() error { return rd.err }
