package main

import (
	"context"
	_ "embed"
	stdjson "encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/lab/table"
)

// hessianJS is the library of Node, from npm.
const hessianJS = "hessian.js@2.11.0"

//go:embed peer.js
var peerScript []byte

// node is a folder with hessian.js and the script that measures it.
type node struct{ dir string }

// newNode installs hessian.js into the user's cache.
func newNode(ctx context.Context) (*node, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	n := &node{filepath.Join(cache, "sabir-lab-hessian")}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(n.dir, "node_modules", "hessian.js")); err != nil {
		install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", n.dir, hessianJS)
		if text, err := install.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm install %s: %w\n%s", hessianJS, err, text)
		}
	}
	return n, os.WriteFile(filepath.Join(n.dir, "peer.js"), peerScript, 0o600)
}

// round measures all values once, both formats and directions. Each round is a process of its own, since V8's compiler
// decides by what it has seen.
func (n *node) round(ctx context.Context, round time.Duration) ([]*cell, error) {
	input := make(map[string]map[string]string, len(values))
	for _, v := range values {
		data, err := hessian.Append(nil, v.value)
		if err != nil {
			return nil, err
		}
		text, err := stdjson.Marshal(v.value)
		if err != nil {
			return nil, err
		}
		input[v.name] = map[string]string{"hessian": fmt.Sprintf("%x", data), "json": string(text)}
	}
	script, err := stdjson.Marshal(input)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "node", "peer.js", strconv.FormatInt(round.Milliseconds(), 10))
	command.Dir, command.Stdin, command.Stderr = n.dir, strings.NewReader(string(script)), os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("node peer.js: %w", err)
	}
	var measured []struct {
		Contender, Value, Direction string
		Nanos                       float64
		Bytes                       int
	}
	if err := stdjson.Unmarshal(out, &measured); err != nil {
		return nil, err
	}
	var cells []*cell
	for _, m := range measured {
		runs := []float64{m.Nanos}
		cells = append(cells, &cell{Contender: m.Contender, Value: m.Value, Direction: m.Direction, Bytes: m.Bytes, runs: runs, Nanos: table.SpreadOf(runs)})
	}
	return cells, nil
}
