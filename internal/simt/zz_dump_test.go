package simt
import ("encoding/json";"os";"testing")
var enc *json.Encoder
func dump(body string, grid, block int, out []uint64) { if enc != nil && grid*block <= 100000 { enc.Encode(map[string]any{"Text": prelude+body+"\n}\n", "Grid": grid, "Block": block, "Out": out}) } }
func TestMain(m *testing.M) { f, _ := os.Create("../ptx/zz_hw/simt.json"); enc = json.NewEncoder(f); c := m.Run(); f.Close(); os.Exit(c) }
