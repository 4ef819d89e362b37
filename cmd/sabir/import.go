package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/fastestvalidator"
	"github.com/sabir-go/sabir/internal/gofile"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/schema"
)

func (c *cli) importCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "import <framework> [flags]",
		GroupID: groupMake,
		Short:   "Write Go types and contracts for the services of another framework",
		Long: `Learns what the services of another framework offer, from its running nodes or from
its compiled interfaces, and writes a Go package for it: for programs that call these
services, and to write one of them anew in Go behind its name.`,
		Example: `  sabir import moleculer nats://127.0.0.1:4222 --namespace shop -o shop/shop.go
  sabir import moleculer redis://127.0.0.1:6379 --service v2.posts -o posts.go
  sabir import dubbo shop-api.jar --interface com.shop.OrderService=orders -o shop/shop.go`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("import needs the framework: moleculer or dubbo")
			}
			return usagef("import does not know %q: want moleculer or dubbo", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused
	}
	command.AddCommand(c.importMoleculerCommand(), c.importDubboCommand())
	return command
}

func (c *cli) importMoleculerCommand() *cobra.Command {
	var file, pkg, namespace, serializer string
	var services, peers []string
	command := &cobra.Command{
		Use:   "moleculer <address> [flags]",
		Short: "Write Go types and contracts for the services of a Moleculer project",
		Long: `Joins a Moleculer project for a few seconds, as a node that offers nothing, and
writes a Go package with what its services offer: a struct for the params of each
action, with their rules, a contract for each action, and one for each event that is
listened to. The params come from the schemas of fastest-validator; an action
without one has the input any, and the output is any for all, since Moleculer does
not describe outputs: give them types of your own.

The address is that of the broker. A project without a broker (tcp://) is joined by
--peer: tcp://:0 is this machine only.`,
		Example: `  sabir import moleculer nats://127.0.0.1:4222 --namespace shop --package shop -o shop/shop.go
  sabir import moleculer nats://127.0.0.1:4222 --service v2.posts --service mail
  sabir import moleculer tcp://:0 --peer tcp://127.0.0.1:4100/node-1`,
		Args: takes(1, 1, "the address of the broker"),
		RunE: func(command *cobra.Command, args []string) error {
			from := moleculer.Config{Address: args[0], Namespace: namespace, Peers: peers}
			switch strings.ToLower(serializer) {
			case "json":
			case "msgpack", "notepack":
				from.Serializer = msgpack.Codec
			case "cbor":
				from.Serializer = cbor.Codec
			default:
				return usagef("the serializer is %q: want json, msgpack, notepack or cbor", serializer)
			}
			ctx, cancel := context.WithTimeout(command.Context(), c.timeout)
			defer cancel()
			described, err := moleculer.Describe(ctx, from)
			if err != nil {
				return failf("%w", err)
			}
			text, actions, err := moleculerPackage(described, pkg, services)
			if err != nil {
				return err
			}
			if file == "" {
				_, err := c.stdout.Write(text)
				return err
			}
			return c.writeGenerated(file, text, actions)
		},
		DisableFlagsInUseLine: true,
	}
	flags := command.Flags()
	flags.StringVar(&namespace, "namespace", "", "the namespace of the project's nodes")
	flags.StringVar(&serializer, "serializer", "json", "their serializer: json, msgpack, notepack or cbor")
	flags.StringArrayVar(&peers, "peer", nil, "with tcp://: a node, tcp://host:port/id; may be repeated")
	flags.StringArrayVar(&services, "service", nil, "a service to import, by its full name (default all); may be repeated")
	flags.StringVar(&pkg, "package", gofile.DefaultPackage, "the name of the package")
	flags.StringVarP(&file, "output", "o", "", "the file to write (default stdout); one that says the same already is left as it is")
	flags.SortFlags = false
	return command
}

// moleculerService is a service as INFO describes it.
type moleculerService struct {
	FullName string `json:"fullName"`
	Actions  map[string]struct {
		Description string          `json:"description"`
		Params      json.RawMessage `json:"params"`
	} `json:"actions"`
	Events map[string]struct {
		Name string `json:"name"`
	} `json:"events"`
}

// moleculerPackage writes the package of the services; of all where only is empty.
func moleculerPackage(described []byte, pkg string, only []string) (text []byte, actions int, err error) {
	var services []moleculerService
	if err := json.Unmarshal(described, &services); err != nil {
		return nil, 0, err
	}
	a := api.API{Title: "the services of the Moleculer project"}
	events := make(map[string]bool)
	found := make(map[string]bool)
	for _, s := range services {
		if len(only) > 0 && !slices.Contains(only, s.FullName) {
			continue
		}
		found[s.FullName] = true
		for _, name := range slices.Sorted(maps.Keys(s.Actions)) {
			if names.Fault(name) != "" {
				continue // Sabir cannot call it
			}
			in, err := fastestvalidator.Schema(s.Actions[name].Params)
			if err != nil {
				return nil, 0, failf("the params of %s: %w", name, err)
			}
			a.Actions = append(a.Actions, api.Action{Name: name, Service: s.FullName, Description: s.Actions[name].Description, In: in, Out: &schema.Schema{}})
		}
		for key, e := range s.Events {
			if name := cmp.Or(e.Name, key); names.Fault(name) == "" && !strings.ContainsAny(name, "*?$") {
				events[name] = true
			}
		}
	}
	for _, name := range only {
		if !found[name] {
			return nil, 0, failf("no node offers the service %s: want its full name, such as v2.posts", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		a.Messages = append(a.Messages, api.Message{Kind: "event", Name: name})
	}
	var out bytes.Buffer
	if err := gofile.WriteMoleculer(&out, a, pkg); err != nil {
		return nil, 0, failf("%w", err)
	}
	return out.Bytes(), len(a.Actions), nil
}
