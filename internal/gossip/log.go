package gossip

import (
	"bytes"
	"context"
	"log/slog"
)

// gossipLog takes memberlist's lines, such as "[WARN] memberlist: Refuting a suspect message (from: b)", to a slog.Logger.
//
// Most of what memberlist calls errors is another node that does not answer, which the owner gets as a change, or one
// lost packet that the protocol makes up for. So its errors are our debugging lines except those below, which are about this
// node itself or of a peer that speaks something else.
type gossipLog struct{ log *slog.Logger }

var gossipLevels = []struct {
	text  string
	level slog.Level
}{
	{"unacceptable label", slog.LevelWarn},
	{"incompatible", slog.LevelWarn},
	{"Too many pending", slog.LevelWarn},
	{"handler queue full", slog.LevelWarn},
	{"Refuting a suspect message", slog.LevelInfo}, // this node was slow to answer
	{"Refuting a dead message", slog.LevelWarn},    // too slow: it was removed for a while
}

func (g gossipLog) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	if _, after, found := bytes.Cut(text, []byte("memberlist: ")); found {
		text = after
	}
	level := slog.LevelDebug
	for _, l := range gossipLevels {
		if bytes.Contains(text, []byte(l.text)) {
			level = l.level
			break
		}
	}
	g.log.Log(context.Background(), level, "gossip: "+string(text))
	return len(line), nil
}
