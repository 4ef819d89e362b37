// Picture makes docs/kill.svg: three nodes under load, one of which is killed by kill -9.
//
//	go run ./examples/picture record    # runs it and writes examples/picture/run.json and docs/kill.svg
//	go run ./examples/picture           # draws docs/kill.svg from the recorded run
//
// Run it from the root of the repository.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
)

const (
	recorded = "examples/picture/run.json"
	drawn    = "docs/kill.svg"
)

// run holds the measurements of record, from which draw makes the picture.
type run struct {
	Machine  string   `json:"machine"`
	Callers  int      `json:"callers"`
	Interval int      `json:"intervalMs"` // between samples
	Nodes    []string `json:"nodes"`
	Killed   int      `json:"killed"`   // index of the node that got SIGKILL
	KilledAt int      `json:"killedAt"` // index of the first sample after it
	Calls    int      `json:"calls"`
	Failed   int      `json:"failed"`
	Samples  [][]int  `json:"samples"` // calls that each node answered in each interval
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "record" {
		r, err := record(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(recorded, append(text, '\n'), 0o644); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d calls, %d failed\n", r.Calls, r.Failed)
	}
	r, err := load(recorded)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(drawn, draw(r), 0o644); err != nil {
		log.Fatal(err)
	}
}

func load(path string) (r run, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}
