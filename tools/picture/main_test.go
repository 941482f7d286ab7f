package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPicture: the picture is XML, has every query, and marks stand in the order of the times, those of others only where they are of the same benchmark.
func TestPicture(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	gpu := write("gpu.json", `{"suite":"ssb","sf":100,"queries":[{"name":"q1.1","total_ms":1.8,"gpu":{"kernel_ms":0.8,"bound_ms":1.1}},{"name":"q2.1","total_ms":4,"gpu":{"kernel_ms":3,"bound_ms":0}}]}`)
	cpu := write("cpu.json", `{"suite":"ssb","sf":100,"queries":[{"name":"q1.1","total_ms":120}]}`)
	peers := write("peers.json", `[{"name":"A & B","suite":"ssb","sf":100,"queries":{"q1.1":2.9}},{"name":"other","suite":"tpch","sf":100,"queries":{"q1.1":9}}]`)
	var b strings.Builder
	if err := run(&b, "a < b", gpu, cpu, peers); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, want := range []string{"a &lt; b", ">q1.1<", ">q2.1<", "A &amp; B: 2.90 ms", "bound of memory: 1.10 ms", "Kelpie on the CPU: 120.00 ms", ">0.1 ms<", ">1000 ms<", ` width="158.0" height="13" fill="#2f6fab"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, no := range []string{"other", "NaN", "Inf", ": 0.00 ms"} {
		if strings.Contains(text, no) {
			t.Errorf("%s in\n%s", no, text)
		}
	}
	if err := run(&b, "", gpu, write("tpch.json", `{"suite":"tpch","sf":100}`), ""); err == nil {
		t.Error("results of two benchmarks in one picture")
	}
	if err := run(&b, "", write("no.json", "["), "", ""); err == nil {
		t.Error("no JSON, and no error")
	}
}
