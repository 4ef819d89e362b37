package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// helloJSON is a hello with parts of it replaced, in pairs of old and new.
func helloJSON(replace ...string) []byte {
	return []byte(strings.NewReplacer(replace...).Replace(`{"node":"n","cluster":"c","purpose":"link","features":["compress-zstd"],` +
		`"limits":{"message":1,"calls":2,"streams":3,"window":4,"routes":5,"schemas":6,"names":7},"about":{"zone":"x"}}`))
}

func TestHelloIsRead(t *testing.T) {
	got, err := parseHello(helloJSON())
	want := hello{Node: "n", Cluster: "c", Purpose: ForLink, Features: []string{"compress-zstd"}, NodeInfo: []byte(`{"zone":"x"}`),
		Limits: Limits{Message: 1, Calls: 2, Streams: 3, Window: 4, Routes: 5, Schemas: 6, Names: 7}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestWhatALaterVersionAddsToTheHelloIsIgnored(t *testing.T) {
	got, err := parseHello(helloJSON(`"about"`, `"shards":[1,{}],"about"`, `"names":7`, `"names":7,"actors":9`, `"compress-zstd"`, `"compress-x","compress-zstd"`))
	if err != nil || got.Limits.Names != 7 || !slices.Contains(got.Features, "compress-zstd") {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestLimitAboveOurMaximumBecomesIt(t *testing.T) {
	got, err := parseHello(helloJSON(`"message":1`, `"message":2147483647`, `"calls":2`, `"calls":1048577`))
	if err != nil || got.Limits.Message != MaxMessage || got.Limits.Calls != MaxCount {
		t.Errorf("%+v, error %v", got.Limits, err)
	}
}

func TestHelloRefuses(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"no node", `"node":"n"`, `"node":""`, "names no node"},
		{"a long node", `"node":"n"`, `"node":"` + strings.Repeat("n", 256) + `"`, "256 bytes, at most 255"},
		{"a control character", `"cluster":"c"`, `"cluster":"\u001b[2J"`, "holds a control character"},
		{"bytes that are not UTF-8", `"cluster":"c"`, "\"cluster\":\"\xff\"", "not the JSON it should be"},
		{"names in other case", `"node":"n"`, `"NODE":"n"`, "names no node"},
		{"a limit of 0", `"window":4`, `"window":0`, "limit Window is 0"},
		{"a limit below 0", `"calls":2`, `"calls":-2`, "limit Calls is -2"},
		{"a limit that is no whole number", `"calls":2`, `"calls":2.5`, "not the JSON it should be"},
		{"a limit of 2 to the 64", `"calls":2`, `"calls":18446744073709551616`, "not the JSON it should be"},
		{"much about itself", `{"zone":"x"}`, `"` + strings.Repeat("x", MaxNodeInfo) + `"`, "16386 bytes, at most 16384"},
		{"more than one value", `}}`, `}}{}`, "not the JSON it should be"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := parseHello(helloJSON(tc.old, tc.new)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestCompressionIsWhatBothOffer(t *testing.T) {
	for _, tc := range []struct{ ours, theirs, want Compression }{
		{NoCompression, NoCompression, NoCompression},
		{S2, NoCompression, NoCompression},
		{NoCompression, S2, NoCompression},
		{S2, Zstd, NoCompression},
		{S2, S2, S2},
		{Zstd, Zstd, Zstd},
	} {
		own := helloOf(Config{Node: "a", Compression: tc.ours}, ForLink)
		if got := peerOf(own, helloOf(Config{Node: "b", Compression: tc.theirs}, ForLink)).Compression; got != tc.want {
			t.Errorf("%q and %q: %q", tc.ours, tc.theirs, got)
		}
	}
}

func TestLargestHelloFits(t *testing.T) {
	c := Config{Node: strings.Repeat("\\", MaxName), Cluster: strings.Repeat(`"`, MaxName),
		NodeInfo: []byte(`"` + strings.Repeat("<", MaxNodeInfo-2) + `"`), Compression: Zstd}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(helloOf(c.withDefaults(), ForGossip))
	if err != nil || len(data) > maxHello {
		t.Errorf("%d bytes, error %v", len(data), err)
	}
	if _, err := parseHello(data); err != nil {
		t.Error(err)
	}
}

// FuzzHello holds that a hello that is accepted keeps all that the link relies on.
func FuzzHello(f *testing.F) {
	f.Add(helloJSON())
	f.Add(helloJSON(`"calls":2`, `"calls":1e3`))
	f.Add([]byte(`{"about":` + strings.Repeat("[", 200)))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseHello(data)
		if err != nil {
			return
		}
		c := Config{Node: h.Node, Cluster: h.Cluster, NodeInfo: h.NodeInfo, Limits: h.Limits}
		if err := c.Validate(); err != nil {
			t.Errorf("a peer like this was accepted: %v", err)
		}
		if peer := peerOf(helloOf(Config{Compression: S2}, ForLink), h); len(peer.Features) > 1 {
			t.Errorf("features that were not offered: %q", peer.Features)
		}
	})
}
