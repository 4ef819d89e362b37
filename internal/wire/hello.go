package wire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// hello describes one side of a link to the other, as JSON (RFC 8259; UTF-8, no name twice). Names that are not known are for later
// versions and are ignored.
type hello struct {
	Node     string         `json:"node"`
	Cluster  string         `json:"cluster"`
	Purpose  Purpose        `json:"purpose"`
	Features []string       `json:"features"`
	Limits   Limits         `json:"limits"`
	NodeInfo jsontext.Value `json:"about,omitzero"`
}

// compressFeature is the name under which a compression is offered.
func compressFeature(c Compression) string { return "compress-" + string(c) }

// groupsFeature says that a node knows the groups in the head of an event.
const groupsFeature = "event-groups"

// helloOf returns the hello of a node with the given configuration.
func helloOf(c Config, p Purpose) hello {
	h := hello{Node: c.Node, Cluster: c.Cluster, Purpose: p, Features: []string{}, Limits: c.Limits, NodeInfo: c.NodeInfo}
	if c.Compression != NoCompression {
		h.Features = append(h.Features, compressFeature(c.Compression))
	}
	h.Features = append(h.Features, groupsFeature)
	return h
}

// parseHello reads a hello of a peer, with all that can be checked without knowing the other hello. Numbers above our own
// maximum become that, since a later version may allow more.
func parseHello(data []byte) (h hello, err error) {
	if err := json.Unmarshal(data, &h); err != nil {
		return h, fmt.Errorf("the hello is not the JSON it should be: %w", err)
	}
	if h.Node == "" {
		return h, fmt.Errorf("the hello names no node")
	}
	if problem := nameProblem(h.Node); problem != "" {
		return h, fmt.Errorf("the node's id %s", problem)
	}
	if problem := nameProblem(h.Cluster); problem != "" {
		return h, fmt.Errorf("the cluster's name %s", problem)
	}
	if problem := nodeInfoProblem(h.NodeInfo); problem != "" {
		return h, fmt.Errorf("what the node says about itself %s", problem)
	}
	for _, l := range h.Limits.fields() {
		if *l.value < 1 {
			return h, fmt.Errorf("the limit %s is %d, it must be at least 1", l.name, *l.value)
		}
		*l.value = min(*l.value, l.most)
	}
	return h, nil
}

// judge returns why the two cannot have a link, nil for no reason. want is the purpose that the accepting side serves, "" for
// all.
func judge(dialler, acceptor hello, want Purpose) *HandshakeError {
	refuse := func(reason Reason, format string, args ...any) *HandshakeError {
		return &HandshakeError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case dialler.Cluster != acceptor.Cluster:
		return refuse(ReasonCluster, "the dialling side is of cluster %q, the accepting side of %q", dialler.Cluster, acceptor.Cluster)
	case dialler.Node == acceptor.Node && sameAbout(dialler.NodeInfo, acceptor.NodeInfo):
		return refuse(ReasonSelf, "the address leads back to %q", dialler.Node)
	case dialler.Node == acceptor.Node:
		return refuse(ReasonSameNode, "both are called %q: two nodes of the cluster have one id", dialler.Node)
	case dialler.Purpose != ForLink && dialler.Purpose != ForGossip && dialler.Purpose != ForPackets:
		e := refuse(ReasonPurpose, "the dialling side wants %.64q, which the accepting side does not know", dialler.Purpose)
		e.Err = ErrNewerPurpose
		return e
	case want != "" && dialler.Purpose != want:
		return refuse(ReasonPurpose, "the dialling side wants %q, the accepting side serves %q here", dialler.Purpose, want)
	case acceptor.Purpose != dialler.Purpose:
		return refuse(ReasonMalformed, "the dialling side wants %q and the accepting side answered %.64q", dialler.Purpose, acceptor.Purpose)
	}
	return nil
}

// sameAbout reports whether two descriptions say the same and are not empty. A node's description holds a number that is
// different in each run, so only a node that reached itself finds its own.
func sameAbout(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone() // sending one may have changed how it is written
	return len(a) > 0 && a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// peerOf returns the description of the other side that follows from the two hellos.
func peerOf(own, theirs hello) Peer {
	p := Peer{Node: theirs.Node, Cluster: theirs.Cluster, NodeInfo: theirs.NodeInfo, Limits: theirs.Limits, Purpose: theirs.Purpose}
	for _, feature := range own.Features {
		if slices.Contains(theirs.Features, feature) {
			p.Features = append(p.Features, feature)
		}
	}
	for _, c := range []Compression{Zstd, S2} {
		if slices.Contains(p.Features, compressFeature(c)) {
			p.Compression = c
		}
	}
	return p
}
