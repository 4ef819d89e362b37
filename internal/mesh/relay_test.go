package mesh

import (
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
)

func TestLinksAreKeptWhereNobodyElseCanVouchForWhatANodeOffers(t *testing.T) {
	for name, config := range map[string]joining.Config{
		"certificates":      {TLS: &tls.Config{}},
		"keys of nodes":     {NodeKeys: identity.Known{}},
		"a list of members": {Members: []string{"tcp://10.0.0.1:7700"}},
		"a client":          {ClientOnly: true},
	} {
		if c := (&Config{Config: config}); c.sharesCatalogs() {
			t.Errorf("%s: links are made on demand", name)
		}
	}
	if c := (&Config{}); !c.sharesCatalogs() {
		t.Error("no node makes links on demand")
	}
}

// Membership may hear of the next run of a node, and others may tell what it offers, while the links to the former run still stand. Applied then, the
// catalog went with the end of those links, and was taken for one that is in the tables.
func TestASummaryOfTheNextRunWaitsUntilTheLinksToTheFormerAreGone(t *testing.T) {
	m := start(t, t.Context(), "a")
	defer stop(t, m)
	b := start(t, t.Context(), "b", single(1))
	defer stop(t, b)
	await(t, t.Context(), "b's catalog", offers(m, "b", "s1"))
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers["b"]
	former, next := p.info.Instance, membershipRun{Node: "b", Instance: p.info.Instance + 1000}
	m.sparse = true
	p.member = membership.Member{ID: "b", Addr: p.info.Addr, Instance: next.Instance}
	m.relay.summaries[next] = &relayed{passed: true, Summary: membership.Summary{Info: fmt.Appendf(nil, `{"instance":%d,"on_demand":true}`, next.Instance),
		Catalog: membership.Catalog{Node: "b", Instance: next.Instance, Version: 1}}}
	m.relay.unapplied[next], m.relay.retry = true, true
	m.applySummaries()
	if c := m.registry.View().Catalog("b"); c == nil || c.Instance != former {
		t.Errorf("with links to the former run: %+v", c)
	}
	p = m.replacePeer(p)
	m.relay.retry = true
	m.applySummaries()
	if c := m.registry.View().Catalog("b"); c == nil || c.Instance != next.Instance || !m.heard(p) {
		t.Errorf("without them: %+v", c)
	}
	m.forget(p)
	if m.heard(p) || !m.relay.unapplied[next] {
		t.Error("what was forgotten is taken for known")
	}
}

// A node that understands only a part of what a newer one says of a service would write it without the rest, and then nobody could find it by its hash.
func TestAServiceOfANewerNodeIsPassedOnAsItCame(t *testing.T) {
	m := start(t, t.Context(), "a")
	defer stop(t, m)
	const text = `{"name":"users","new":{"field":1},"actions":[{"name":"users.get","also":"new"}]}`
	found, err := membership.ParseServices([]byte("[" + text + "]"))
	if err != nil {
		t.Fatal(err)
	}
	hash := found[0].Hash
	m.mu.Lock()
	m.relay.asked[hash] = time.Now()
	m.mu.Unlock()
	m.receiveServices(nil, []byte("["+text+"]"))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lacks(hash) {
		t.Fatal("the service was asked for and has come, and is not known")
	}
	if got := m.relay.services[hash].text(); string(got) != text {
		t.Errorf("it is passed on as %s", got)
	}
}
