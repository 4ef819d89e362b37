package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/web"
)

// A target receives the calls of a command: a node over HTTP, or a cluster that the command line joins as an observer node.
type target interface {
	// Call calls an action with a JSON document and returns its answer's.
	Call(ctx context.Context, action string, body []byte) ([]byte, error)
	// Name is the address, for users.
	Name() string
	// Close ends the connection.
	Close()
}

// open makes the target that the flags name. Over HTTP that does not connect.
func (c *cli) open(ctx context.Context) (target, error) {
	joined, err := c.joins()
	if err != nil {
		return nil, err
	}
	if joined {
		return c.joinCluster(ctx)
	}
	return c.dial()
}

// joins reports whether the cluster is to be joined, rather than a node talked to over HTTP. Flags count more than the
// environment.
func (c *cli) joins() (bool, error) {
	switch {
	case c.join != "" && c.url != "":
		return false, usagef("--join is for links and --url for HTTP: give one of them")
	case c.join != "":
		return true, nil
	case c.url != "":
		return false, nil
	}
	return os.Getenv("SABIR_JOIN") != "", nil
}

// joined is joins for what has been asked already.
func (c *cli) joined() bool {
	joined, err := c.joins()
	return joined && err == nil
}

// openJoined is open for what only a cluster can do.
func (c *cli) openJoined(ctx context.Context, what string, more ...sabir.NodeOption) (*clusterClient, error) {
	joined, err := c.joins()
	if err != nil {
		return nil, err
	}
	if !joined {
		return nil, usagef("%s needs a cluster: add --join URL, such as --join tcp://:7700", what)
	}
	return c.joinCluster(ctx, more...)
}

// dial makes a client for the node; the caller closes it. It does not connect.
func (c *cli) dial() (*web.Client, error) {
	client, err := web.Dial(c.address(), web.ClientConfig{Key: secret.New(c.httpKey())})
	if err != nil {
		return nil, usagef("%v", err)
	}
	return client, nil
}

// ask calls an action of the target once and returns its JSON.
func (c *cli) ask(ctx context.Context, to target, action string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := to.Call(ctx, action, body)
	if _, joined := to.(*clusterClient); !joined && strings.HasPrefix(action, "$") && errors.Is(err, sabir.ErrActionNotFound) {
		// To who is no operator the runtime's own actions do not exist, and every node has $node.info.
		if _, other := to.Call(ctx, "$node.info", nil); errors.Is(other, sabir.ErrActionNotFound) {
			return nil, forOperators(err, action)
		}
	}
	return answer, named(to, err, action)
}

func forOperators(err error, action string) error {
	e := sabir.AsError(err)
	c := sabir.Errorf(e.Code, e.Name, "%w", advice{errors.New("over HTTP the node answers " + action + " to its operators only"),
		"join the node's cluster with --join; over HTTP, the node says who its operators are with Operators of web.Config, and you who you are with --key"})
	c.Node = e.Node
	return c
}

// askFor is ask for an answer of a known type.
func askFor[Out any](ctx context.Context, c *cli, to target, action string) (out Out, err error) {
	answer, err := c.ask(ctx, to, action, nil)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, sabir.Errorf(sabir.CodeInternal, "BadOutput", "the answer of %s from %s cannot be read; does the node run another version of Sabir? %w", action, to.Name(), err)
	}
	return out, nil
}

// named names an unknown action in its error over HTTP, and what else may be meant, rather than the address at which it would be.
func named(to target, err error, action string) error {
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || !errors.Is(e, sabir.ErrActionNotFound) {
		return err
	}
	if strings.HasPrefix(action, "$channels.") {
		return failf("node %s has no channels: it was made without channel.Broker", e.Node)
	}
	if _, joined := to.(*clusterClient); joined || !strings.Contains(e.Message, "has the address") {
		return err // which is of a call within the action, or names it
	}
	if strings.HasPrefix(action, "$node.") { // which every node has
		return forOperators(err, action)
	}
	c := *e
	c.Message = "the node offers no action " + action
	type suggestions struct {
		Nearest []string `json:"nearest"`
	}
	if data, err := sabir.DataAs[suggestions](e); err == nil && len(data.Nearest) > 0 {
		c.Message += "; did you mean " + strings.Join(data.Nearest, ", ") + "?"
	}
	return &c
}

// eachNode asks each node of a cluster, or the one that is talked to, and gives each answer to take. Nodes of other frameworks have no $node.
func eachNode[Out any](ctx context.Context, c *cli, to target, action string, take func(node string, found Out)) error {
	g, joined := to.(*clusterClient)
	if !joined {
		self, err := askFor[introspect.Node](ctx, c, to, "$node.info")
		if err != nil {
			return err
		}
		found, err := askFor[Out](ctx, c, to, action)
		if err != nil {
			return err
		}
		take(self.ID, found)
		return nil
	}
	for _, n := range g.node.Nodes() {
		if n.ClientOnly || n.Framework != "" || n.ID == g.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		found, err := sabir.Call[Out](ctx, g.node, action, sabir.Empty{}, sabir.ToNode(n.ID))
		cancel()
		if err != nil {
			return err
		}
		take(n.ID, found)
	}
	return nil
}
