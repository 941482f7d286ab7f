package ptx

import ("bufio";"compress/gzip";"encoding/json";"os";"testing";"unsafe";"github.com/kelpiedb/kelpie/internal/simt")

var texts = map[*simt.Kernel]string{}
var ids = map[string]int{}
var enc *json.Encoder
var perKernel = map[string]int{}
type rec struct { Text *string `json:",omitempty"`; ID int; Kernel string; Grid, Block int; In, Out [][]byte; Status uint64 }
func raw(b []uint64) []byte { return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), 8*len(b))...) }
func dump(k *simt.Kernel, grid, block int, in [][]byte, m *machine) {
	if enc == nil { return }
	t := texts[k]
	id, ok := ids[t]
	r := rec{Kernel: k.Name, Grid: grid, Block: block, In: in, Status: m.status()}
	if !ok { id = len(ids); ids[t] = id; r.Text = &t }
	r.ID = id
	key := t + k.Name
	perKernel[key]++
	if perKernel[key] > 12 { return }
	for _, b := range m.bufs { r.Out = append(r.Out, raw(b)) }
	enc.Encode(r)
}
func TestMain(m *testing.M) {
	f, _ := os.Create("zz_hw/ptx.json.gz")
	b := bufio.NewWriter(f)
	z := gzip.NewWriter(b)
	enc = json.NewEncoder(z)
	c := m.Run()
	z.Close(); b.Flush(); f.Close()
	os.Exit(c)
}
