package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kelpiedb/kelpie"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts print into testdata/script")

func TestMain(m *testing.M) {
	// A test that needs the process itself runs this binary as kelpie.
	if os.Getenv("KELPIE_TEST_MAIN") != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"kelpie": main})
}

// TestScripts runs testdata/script/*.txtar: commands, and what they must print.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *rewrite,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"validjson": validJSON},
	})
}

// validJSON is the script command validjson FILE…: each is JSON, of one or more documents.
func validJSON(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		d := json.NewDecoder(strings.NewReader(ts.ReadFile(name)))
		for {
			var v any
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestInterrupt: Ctrl-C cancels the query that runs, and the process says so with exit code 130.
func TestInterrupt(t *testing.T) {
	c := exec.Command(os.Args[0], "-c", "call tpch(sf => 0.02); select count(*) from lineitem a, lineitem b, lineitem c where a.l_comment < b.l_comment")
	c.Env = append(os.Environ(), "KELPIE_TEST_MAIN=1")
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	c.Process.Signal(os.Interrupt)
	killer := time.AfterFunc(20*time.Second, func() { c.Process.Signal(syscall.SIGKILL) })
	defer killer.Stop()
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 || errs.String() != "interrupted\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out.String(), errs.String())
	}
}

func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "  ": true, `\d`: true, "quit": true, "select 1;": true, "select 1; -- done": true, "select 1;\n": true,
		"select 1": false, "select ';": false, "select ';'": false, "select ';';": true, "select 'it''s;": false,
		`select ";"`: false, `select ";";`: true, "select 1 -- ;": false, "select /* ; */ 1": false, "select 1 /* ;": false,
		"select /* /* */ ; */ 1;": true, `select E'\';`: false, `select E'\'';`: true, `select '\';`: true,
		"select $$;$$": false, "select $$;$$;": true, "select $a$ $b$; $a$": false, "select $1;": true,
		"select 1; select 2": false, "select 1; select 2;": true,
		"select 1\n\\d": true, "select 1 \\g": true, "select '\\d": false, "\\d\nselect 1": false, ".tables": true, "select 1\n.5": false, ".5": false,
	} {
		if got := complete(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestHelpWidth: help fits a terminal of 80 columns.
func TestHelpWidth(t *testing.T) {
	for _, text := range []string{help, demoHelp, benchHelp, checkHelp, devicesHelp, genHelp, shellHelp()} {
		for line := range strings.Lines(text) {
			if len(line) > 81 { // with its newline
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

// TestChoose: the CPU where it can, else the simulator and a note.
func TestChoose(t *testing.T) {
	can := slices.Contains(kelpie.Devices(), "cpu")
	var note strings.Builder
	f := engineFlags{}
	if err := f.choose(&note); err != nil || (f.device == "cpu") != can || (note.Len() == 0) != can {
		t.Errorf("device %q, note %q, %v", f.device, note.String(), err)
	}
	if err := (&engineFlags{device: "cpu"}).choose(&note); (err == nil) != can {
		t.Errorf("cpu: %v", err)
	}
	if err := (&engineFlags{device: "simt"}).choose(&note); err != nil {
		t.Errorf("simt: %v", err)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestListDevices: what there is, and what is missing, in words.
func TestListDevices(t *testing.T) {
	h200 := kelpie.GPU{Name: "NVIDIA H200", Memory: 150 << 30, Capability: "9.0", Units: 132, Driver: "driver 580.95.05, CUDA 13.0"}
	for _, c := range []struct {
		cpu     string
		gpus    []kelpie.GPU
		missing error
		want    []string
	}{
		{"x86-64 with AVX2", []kelpie.GPU{h200, h200}, nil, []string{"cpu    x86-64 with AVX2, ",
			"\ngpu    NVIDIA H200: 150.0 GiB, compute capability 9.0, 132 multiprocessors; driver 580.95.05, CUDA 13.0\n       NVIDIA H200: ", "\nsimt ", "EXPLAIN says which"}},
		{"", nil, errors.New("the driver finds no GPU"), []string{"cpu    not here: there is no translator for ", "\ngpu    not here: the driver finds no GPU\n", "always the CPU"}},
	} {
		var b strings.Builder
		listDevices(&b, c.cpu, c.gpus, c.missing)
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}
