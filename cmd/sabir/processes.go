package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/introspect"
)

// The command about processes asks the service $processes of nodes that have some.

// processesFlags are the flags of sabir processes.
type processesFlags struct {
	inspect.Query
	flat bool
}

// The most that a node answers: see inspect.Query.
const (
	maxProcesses    = 1000
	maxProcessDepth = 20
)

var processOrders = []string{"waiting", "age", "name"}

func (c *cli) processesCommand() *cobra.Command {
	var flags processesFlags
	command := &cobra.Command{
		Use:     "processes [node] [flags]",
		GroupID: groupUse,
		Short:   "Show the processes of nodes: supervision trees, mailboxes, restarts",
		Long: `Shows the processes of a running node, or of all nodes of a cluster or one of
them: each supervisor with those below it, and some of those that nobody
supervises. Use it to see who is restarted again and again (RESTARTS) and who does
not keep up (WAITING: messages in the mailbox). Lost messages were for processes
that had ended, for full mailboxes, or of a type that the process does not handle.

--flat lists processes without the trees, the first 1,000 in the order of --sort,
and says how many more there are. --match lists those whose name, behaviour or
PID has the text in it, or with * for anything is the text.`,
		Example: `  sabir processes
  sabir processes --join tcp://:7700
  sabir processes shop-1 --flat --sort age --limit 20 --join tcp://:7700
  sabir processes --match 'orders.*'
  sabir processes --flat --json | jq '.[].processes[0]'`,
		Args: takes(0, 1, "one node's name, such as shop-1"),
		RunE: func(command *cobra.Command, args []string) error {
			if !slices.Contains(processOrders, flags.Sort) {
				return usagef("processes cannot be sorted by %q: want one of %s", flags.Sort, strings.Join(processOrders, ", "))
			}
			if flags.Limit < 1 || flags.Limit > maxProcesses {
				return usagef("the limit is %d: want 1 to %s", flags.Limit, grouped(maxProcesses))
			}
			if flags.Depth < 1 || flags.Depth > maxProcessDepth {
				return usagef("the depth is %d: want 1 to %d", flags.Depth, maxProcessDepth)
			}
			node := ""
			if len(args) == 1 {
				node = args[0]
			}
			return c.processes(command.Context(), flags, node)
		},
		ValidArgsFunction: c.completeNode,
	}
	f := command.Flags()
	f.BoolVar(&flags.flat, "flat", false, "list processes without the trees")
	f.StringVar(&flags.Sort, "sort", processOrders[0], "the order of the flat list: "+strings.Join(processOrders, ", "))
	f.StringVar(&flags.Match, "match", "", "list only processes whose name, behaviour or PID is like this; the list is flat then")
	f.IntVar(&flags.Limit, "limit", maxProcesses, "the most processes of a node to show")
	f.IntVar(&flags.Depth, "depth", maxProcessDepth, "how many levels of a tree to show")
	if err := command.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(processOrders, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the command has the flag
	}
	return command
}

func (c *cli) processes(ctx context.Context, flags processesFlags, node string) error {
	to, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	nodes, err := c.nodesToAsk(ctx, to, node)
	if err != nil {
		return err
	}
	if flags.flat || flags.Match != "" {
		return queryProcesses(ctx, c, to, nodes, "list", flags.Query, c.showList)
	}
	return queryProcesses(ctx, c, to, nodes, "tree", flags.Query, c.showTrees)
}

// nodesToAsk is the nodes that are to be asked; over HTTP it is the one that answers.
func (c *cli) nodesToAsk(ctx context.Context, to target, node string) ([]string, error) {
	g, joined := to.(*clusterClient)
	if !joined {
		info, err := askFor[introspect.Node](ctx, c, to, "$node.info")
		if err == nil && node != "" && node != info.ID {
			err = usagef("over HTTP a node tells about its own processes, and this one is %s: add --join URL for others", info.ID)
		}
		return []string{info.ID}, err
	}
	if node != "" {
		return []string{node}, nil
	}
	list, err := askFor[[]introspect.Node](ctx, c, to, "$node.nodes")
	var nodes []string
	for _, info := range list {
		if !info.ClientOnly && info.ID != g.node.ID() {
			nodes = append(nodes, info.ID)
		}
	}
	return nodes, err
}

// queryProcesses asks nodes for what is to be shown, and shows it. Of several nodes those without processes are left out.
func queryProcesses[Answer any](ctx context.Context, c *cli, to target, nodes []string, action string, q inspect.Query, show func(Answer)) error {
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	answers := []Answer{}
	for _, id := range nodes {
		if g, joined := to.(*clusterClient); joined {
			g.to = id
		}
		answer, err := c.ask(ctx, to, "$processes."+action, text)
		without := errors.Is(err, sabir.ErrActionNotFound)
		switch {
		case without && len(nodes) == 1:
			return failf("node %s has no processes: it was not made with the Option of an actor.System", id)
		case without:
			continue
		case err != nil && len(nodes) == 1:
			return err
		case err != nil:
			fmt.Fprintf(c.stderr, "node %s does not tell about its processes: %v\n", printable(id), err)
			continue
		}
		var one Answer
		if err := json.Unmarshal(answer, &one); err != nil {
			return sabir.Errorf(sabir.CodeInternal, "BadOutput", "what node %s tells about its processes cannot be read; does it run another version of Sabir? %w", id, err)
		}
		answers = append(answers, one)
	}
	if len(answers) == 0 {
		return failf("no node of %s has processes: none was made with the Option of an actor.System", to.Name())
	}
	if c.json {
		writeJSON(c.stdout, answers)
		return nil
	}
	for i, one := range answers {
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		show(one)
	}
	return nil
}

// showTotals is the line about a node above its processes.
func (c *cli) showTotals(node string, count int, lost inspect.Stats) {
	s := styleOf(c.stdout)
	text := "no message lost"
	if sum := lost.Undelivered + lost.Overflowed + lost.NotHandled; sum > 0 {
		text = s.red(fmt.Sprintf("%s lost: %s to nobody, %s to full mailboxes, %s not handled",
			plural(int(sum), "message"), grouped(lost.Undelivered), grouped(lost.Overflowed), grouped(lost.NotHandled)))
	}
	fmt.Fprintf(c.stdout, "%s · %s · %s\n", s.bold(printable(node)), plural(count, "process"), text)
}

func plural(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return grouped(int64(n)) + " " + what
}

func (c *cli) showList(l inspect.List) {
	c.showTotals(l.Node, l.Count, l.Stats)
	if len(l.Processes) == 0 {
		fmt.Fprintln(c.stdout, "no process is called like that")
		return
	}
	var rows [][]string
	for _, p := range l.Processes {
		rows = append(rows, []string{firstOf(p.Name, "-"), p.Behavior, p.Life, grouped(int64(p.Waiting)), age(p.Age), p.PID})
	}
	c.writeTable([]string{"NAME", "BEHAVIOUR", "LIFE", "WAITING", "AGE", "PID"}, rows)
	if l.More > 0 {
		fmt.Fprintf(c.stdout, "and %s more\n", grouped(int64(l.More)))
	}
}

func (c *cli) showTrees(o inspect.Trees) {
	c.showTotals(o.Node, o.Count, o.Stats)
	var d drawing
	for _, tree := range o.Trees {
		d.draw(tree, "", "")
	}
	if o.More > 0 {
		d.line("and " + plural(o.More, "other supervisor"))
	}
	if len(o.Unsupervised) > 0 {
		d.line("no supervisor")
		for i, p := range o.Unsupervised {
			d.draw(inspect.Tree{Process: p}, limb(i == len(o.Unsupervised)-1 && o.MoreUnsupervised == 0), "")
		}
		if o.MoreUnsupervised > 0 {
			d.line(limb(true) + plural(o.MoreUnsupervised, "other") + ": see --flat")
		}
	}
	if len(d.rows) == 0 {
		fmt.Fprintln(c.stdout, "no process runs")
		return
	}
	c.writeTable([]string{"PROCESS", "BEHAVIOUR", "LIFE", "WAITING", "RESTARTS", "AGE", "PID"}, d.rows)
}

// drawing is a tree as rows of a table.
type drawing struct{ rows [][]string }

func (d *drawing) line(text string) { d.rows = append(d.rows, []string{text, "", "", "", "", "", ""}) }

// limb returns the line drawing before a child in a tree; last is true for the last child of its parent.
func limb(last bool) string {
	if last {
		return "└─ "
	}
	return "├─ "
}

// draw adds a process with those below it; own goes before its name and below before theirs.
func (d *drawing) draw(b inspect.Tree, own, below string) {
	what, life, restarts := b.Behavior, b.Life, "-"
	if b.Strategy != "" {
		what += ", " + b.Strategy
	}
	if b.State != "" {
		restarts = grouped(int64(b.Restarts))
		if b.State != "running" {
			life = b.State
		}
	}
	if b.Problem != "" {
		life += ": " + b.Problem
	}
	row := []string{own + calledInTree(b), what, life, "-", restarts, "-", "-"}
	if b.PID != "" {
		row[3], row[5], row[6] = grouped(int64(b.Waiting)), age(b.Age), b.PID
	}
	d.rows = append(d.rows, row)
	for i, child := range b.Children {
		last := i == len(b.Children)-1 && b.Unlisted == 0
		deeper := "│  "
		if last {
			deeper = "   "
		}
		d.draw(child, below+limb(last), below+deeper)
	}
	if b.Unlisted > 0 {
		d.line(below + limb(true) + grouped(int64(b.Unlisted)) + " more")
	}
}

// calledInTree returns the label of a process in a tree: its id at its supervisor, and its name if that differs.
func calledInTree(b inspect.Tree) string {
	switch {
	case b.ID != "" && b.Name != "" && b.ID != b.Name:
		return b.ID + " (" + b.Name + ")"
	case b.ID != "" || b.Name != "":
		return firstOf(b.ID, b.Name)
	}
	return "-"
}

// age is a time that something has lasted, in one unit or two.
func age(d time.Duration) string { return ago(time.Now().Add(-d)) }
