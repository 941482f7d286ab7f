package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
)

func main() {
	s := session.New(session.NewDB())
	ctx := context.Background()
	start := time.Now()
	if _, err := s.Query(ctx, "call tpch(sf => "+os.Args[1]+")"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("generated", time.Since(start))
	s.Configure(func(x *session.Settings) { x.Check = os.Getenv("CHECK") != ""; x.Threads = 1 })
	session.Trace = os.Getenv("PLAN") != ""
	for _, f := range os.Args[2:] {
		b, err := os.ReadFile(f)
		text := string(b)
		if err != nil {
			text = f
		}
		for range 3 {
			r, err := s.Query(ctx, text)
			if err != nil {
				fmt.Println(diag.Format(err, text))
				break
			}
			fmt.Println(f, r.Timing, r.Rows)
			defer r.Close()
			for i, row := range r.Values() {
				if i < 5 && os.Getenv("Q") == "" {
					for _, v := range row {
						fmt.Print(v.String(), "|")
					}
					fmt.Println()
				}
			}
		}
	}
}
