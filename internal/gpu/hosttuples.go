package gpu

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
)

// uploadTuples copies tuples that the host has made to the device, in one block with all their texts: a copy and an
// allocation for each text took seconds where there were a million. The texts lie side by side, so only the last needs
// what may be read behind a text. Where one has no bytes, as one that is NULL, nothing is read and its address may be
// anything.
func (r *run) uploadTuples(rows tuples.Rows) (device.Addr, error) {
	if rows.Len() == 0 {
		return 0, nil
	}
	size, fields := rows.Tuple.Size, textFields(rows.Tuple, nil)
	tasks := rows.Tasks()
	tupleAt, textAt := make([]int, len(tasks)), make([]int, len(tasks)) // where those of a task begin in the block
	if err := r.team.Parallel(len(tasks), func(i int) error {
		for tuple := range tasks[i].N {
			for _, f := range fields {
				textAt[i] += int(mem.Load64(tasks[i].Addr + uintptr(tuple*size+f.Off) + 8))
			}
		}
		return nil
	}); err != nil {
		return 0, err
	}
	texts := int(rows.Len()) * size // where they begin
	tupleEnd, textEnd := 0, texts
	for i := range tasks {
		tupleAt[i], tupleEnd = tupleEnd, tupleEnd+tasks[i].N*size
		textAt[i], textEnd = textEnd, textEnd+textAt[i]
	}
	host, err := r.mem.Take(textEnd + column.TextPad)
	if err != nil {
		return 0, err
	}
	clear(mem.Bytes(host+uintptr(textEnd), column.TextPad))
	to, err := r.alloc(int64(textEnd + column.TextPad))
	if err != nil {
		return 0, err
	}
	if err := r.team.Parallel(len(tasks), func(i int) error {
		tuple, text := host+uintptr(tupleAt[i]), textAt[i]
		copy(mem.Bytes(tuple, tasks[i].N*size), mem.Bytes(tasks[i].Addr, tasks[i].N*size))
		for range tasks[i].N {
			for _, f := range fields {
				word := tuple + uintptr(f.Off)
				n := int(mem.Load64(word + 8))
				copy(mem.Bytes(host+uintptr(text), n), mem.Bytes(uintptr(mem.Load64(word)), n))
				mem.Store64(word, uint64(to)+uint64(text))
				text += n
			}
			tuple += uintptr(size)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	r.texts = append(r.texts, homes{to + device.Addr(texts), textEnd - texts, host + uintptr(texts)})
	return to, r.send(to, copies(mem.Bytes(host, textEnd+column.TextPad)))
}
