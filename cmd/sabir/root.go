package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// cli is one run of the command line: its streams and the flags that all commands have.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	url     string
	join    string
	cluster string
	key     string
	nodeKey string // the name of a file
	tlsCert string
	tlsKey  string
	tlsCA   string
	timeout time.Duration
	json    bool
	headers []string // of requests for descriptions
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for did not work
	exitUsage  = 2 // it was asked for in the wrong way; nothing was done
)

// execute runs the command line and returns its exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	c := &cli{stdin: stdin, stdout: out, stderr: stderr}
	root := c.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.failure()
	}
	if err == nil {
		return exitOK
	}
	c.json = c.json || slices.Contains(args, "--json") // the flags may not have been read
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || sabir.AsError(err).Code == sabir.CodeCanceled) {
		err = failf("interrupted")
	}
	return c.fail(command, err)
}

// The groups of commands in the help.
const (
	groupTry  = "try"
	groupUse  = "use"
	groupMake = "make"
)

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sabir",
		Short: "Try, call, watch and measure Sabir nodes, and make services",
		Long: `Sabir is a service runtime: typed Go functions, called at function speed in
process and over the network. This command line talks to a running node over
HTTP (--url), or joins a cluster as a client-only node and talks to all of its nodes
(--join). New here? Start the demo in one terminal and call it from another.`,
		Example: `  sabir demo                        # a small shop on http://127.0.0.1:3000
  sabir actions                     # what it offers
  sabir call users.get id=u-1       # a call
  sabir demo --nodes 3 --processes  # the same shop as a cluster
  sabir top --join tcp://:7700      # what goes on in it
  sabir new greeter                 # a service of your own`,
		Args: c.knownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if c.timeout <= 0 {
				return usagef("the timeout is %v: want more than 0", c.timeout)
			}
			return nil
		},
		Version:       version().String(), // for --version, which many try first
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("sabir {{.Version}}\n")
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%v", err) })
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&c.url, "url", "", "the node to talk to (default $SABIR_URL, else http://127.0.0.1:3000)")
	flags.StringVar(&c.join, "join", "", "the cluster to join as a client-only node, by the address of any node: tcp://:7700 (default $SABIR_JOIN)")
	flags.StringVar(&c.cluster, "cluster", "", "the cluster's name (default \"default\")")
	flags.StringVar(&c.key, "key", "", "the key that the cluster or the node asks for (default $SABIR_KEY with --join, $SABIR_HTTP_KEY with --url)")
	flags.StringVar(&c.nodeKey, "node-key-file", "", "the file with the key that proves this side's id, cli-…, to nodes that ask for that (default $SABIR_NODE_KEY_FILE)")
	flags.StringVar(&c.tlsCert, "tls-cert", "", "for tls:// links: the file with this side's certificate")
	flags.StringVar(&c.tlsKey, "tls-key", "", "the file with the key of that certificate")
	flags.StringVar(&c.tlsCA, "tls-ca", "", "the file with the authorities that nodes' certificates must be from (default the system's)")
	flags.DurationVar(&c.timeout, "timeout", 10*time.Second, "the most that one call may take")
	flags.BoolVar(&c.json, "json", false, "write JSON for programs, errors too (to stderr)")
	root.AddGroup(&cobra.Group{ID: groupTry, Title: "Try it:"}, &cobra.Group{ID: groupUse, Title: "Talk to a node or a cluster:"},
		&cobra.Group{ID: groupMake, Title: "Make and measure:"})
	root.AddCommand(c.demoCommand(), c.callCommand(), c.emitCommand(), c.actionsCommand(), c.servicesCommand(), c.nodesCommand(), c.checkCommand(), c.drainCommand(), c.undrainCommand(), c.routeCommand(), c.channelsCommand(), c.processesCommand(), c.topCommand(), c.mcpCommand(),
		c.newCommand(), c.genCommand(), c.importCommand(), c.configCommand(), c.pubkeyCommand(), c.benchCommand(), c.codecsCommand(), c.versionCommand())
	for _, command := range root.Commands() {
		command.DisableFlagsInUseLine = true
		command.Flags().SortFlags = false
	}
	addCompletion(root)
	completeFiles(root)
	addHelp(root)
	return root
}

// knownCommand is asked about the arguments that are no command.
func (c *cli) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	near := root.SuggestionsFor(args[0]) // those that begin like it
	if len(near) == 0 {
		var known []string
		for _, command := range root.Commands() {
			known = append(known, command.Name())
		}
		near = names.Nearest(args[0], known)
	}
	if len(near) > 0 {
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return usagef("%s", text)
}

// addHelp adds cobra's command of help, which shows that of all for a name that no command has.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return usagef("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		}
	}
}

// takes checks the number of arguments and names the ones wanted: takes(1, 1, "the action, such as users.get").
func takes(least, most int, wanted string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", command.Name(), wanted)
		case most == 0 && len(args) > 0:
			return usagef("%s takes %s: what is %q?", command.Name(), wanted, args[0])
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s and nothing else: what is %q?", command.Name(), wanted, args[most])
		}
		return nil
	}
}

// address is the URL of the node to talk to.
func (c *cli) address() string {
	return firstOf(c.url, os.Getenv("SABIR_URL"), "http://127.0.0.1:3000")
}

// clusterKeys are those of the cluster to join, several with commas between them while it changes its key. They are proved, and never sent.
func (c *cli) clusterKeys() []string { return splitKeys(firstOf(c.key, os.Getenv("SABIR_KEY"))) }

// httpKey is the key of a node over HTTP; of several with commas between them, as the node itself takes them, the first. It is sent, so the
// variable of the cluster's key is not looked at.
func (c *cli) httpKey() string {
	if keys := splitKeys(firstOf(c.key, os.Getenv("SABIR_HTTP_KEY"))); keys != nil {
		return keys[0]
	}
	return ""
}

func splitKeys(text string) (keys []string) {
	for key := range strings.SplitSeq(text, ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
