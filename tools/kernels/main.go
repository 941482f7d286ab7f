// Command kernels runs the queries of tpch, ssb and more on simulated GPUs, and shows what their kernels are like. Nothing
// but Go is needed for the gates: what warps do for 32 rows, how much memory they touch, launches and bytes over the bus, beside what
// the design asks for. Where NVIDIA's assembler can be had, it also tells registers and spills of all kernels, for old and new GPUs:
//
//	go run ./tools/kernels -ptxas "$(bash internal/ptx/testdata/get-ptxas.sh /tmp/ptxas)"
//
// A kernel that spills or has more than 64 registers is an error, and so is a figure beyond what the design asks for, or worse than gates.txt says;
// -rewrite writes that anew.
//
// How long a GPU's driver takes to compile them is seen there, where there need not be Go: -texts DIR writes them here, -driver DIR compiles them.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	ptxas := flag.String("ptxas", "", "NVIDIA's assembler; without it there are only gates")
	rewrite := flag.Bool("rewrite", false, "write gates.txt")
	only := flag.Bool("gates", false, "gates only")
	texts := flag.String("texts", "", "write the kernels of TPC-H into this folder, and nothing else")
	driver := flag.String("driver", "", "let the driver compile the kernels in this folder, and show how long that takes, and nothing else")
	flag.Parse()
	err := error(nil)
	switch {
	case *texts != "":
		err = writeTexts(*texts)
	case *driver != "":
		err = timeDriver(*driver)
	default:
		err = run(*ptxas, *rewrite, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(ptxas string, rewrite, only bool) error {
	text, err := gates()
	if err != nil {
		return err
	}
	fmt.Print(text)
	if rewrite {
		err = os.WriteFile(gatesFile, []byte(text), 0o644)
	} else {
		err = compareGates(text)
	}
	if err != nil || only || ptxas == "" {
		return err
	}
	fmt.Println()
	return assembleAll(ptxas)
}
