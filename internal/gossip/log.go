package gossip

import (
	"bytes"
	"context"
	"log/slog"
	"time"
)

// gossipLog takes memberlist's lines, such as "[WARN] memberlist: Refuting a suspect message (from: b)", to a slog.Logger.
//
// Most of what memberlist calls errors is another node that does not answer, which the owner gets as a change, or one
// lost packet that the protocol makes up for. So its errors are our debugging lines except those below, which are about this
// node itself or of a peer that speaks something else. These get words that an operator understands; memberlist's are the detail.
type gossipLog struct {
	log   *slog.Logger
	began time.Time // of this run
}

// returning is the time in which a node that was started again under its id may meet what the others say of its earlier run: that it has left,
// or, where it was killed, that it does not answer.
const returning = 10 * time.Second

var gossipLines = []struct {
	text    string
	level   slog.Level
	message string
}{
	// A node that dials a lost one, and meets another at its address, closes the connection before it says anything: so does each node of a machine
	// whose shared address was taken over. A peer always has a label, since both have shown each other the cluster's name before.
	{`stream with unacceptable label ""`, slog.LevelDebug, "a node looked for another one at this one's address, and went away"},
	{"unacceptable label", slog.LevelWarn, "a node of a cluster with another name reached this one, and was refused: the detail has that name"},
	{"is incompatible: [", slog.LevelWarn, "a node whose gossip this one cannot read was refused: do all run the same version?"},
	{"Too many pending", slog.LevelWarn, "more nodes exchange what they know with this one than it takes at once; they try again"},
	{"handler queue full", slog.LevelWarn, "more gossip comes than this node handles, and some is dropped: it has too little processor time"},
	{"Refuting a suspect message", slog.LevelInfo, "another node suspected this one, which was slow to answer"},
	{"Refuting a dead message", slog.LevelWarn, "the others removed this node for a while, since it did not answer in time"},
}

func (g gossipLog) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	if _, after, found := bytes.Cut(text, []byte("memberlist: ")); found {
		text = after
	}
	if bytes.Contains(text, []byte("Refuting a ")) && time.Since(g.began) < returning {
		g.log.Debug("the others know of this node's earlier run, which has ended", "detail", string(text))
		return len(line), nil
	}
	for _, l := range gossipLines {
		if bytes.Contains(text, []byte(l.text)) {
			g.log.Log(context.Background(), l.level, l.message, "detail", string(text))
			return len(line), nil
		}
	}
	g.log.Debug("gossip: " + string(text))
	return len(line), nil
}
