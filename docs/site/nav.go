package main

import (
	"path"
	"slices"
	"strings"
)

// section is a part of the sidebar. Its pages are in the order in which they are read.
type section struct {
	Title string
	Pages []*page
}

// outline is the sidebar: names of pages, without .md; a name with a slash at its end is every page of that folder. A page that is not
// named is the last of the guides, so that a new page is found at once.
var outline = []struct {
	title string
	names []string
}{
	{"Start", []string{"README", "start/README", "start/"}},
	{"Tutorial", []string{"tutorial/README", "tutorial/"}},
	{"Concepts", []string{"concepts/README", "concepts/call", "concepts/delivery", "concepts/errors", "concepts/evolution", "concepts/choose", "concepts/", "glossary", "faq"}},
	{"Guides", []string{"services", "errors", "validation", "http", "http-auth", "http-streams", "http-files", "http-clients", "http-gateway", "http-server", "doors", "mcp", "channels", "policies", "processes", "processes-supervision", "processes-cluster", "processes-pools", "grains", "leases", "joining", "transports", "transports-tls", "transports-udp", "transports-http", "transports-broker", "transports-write", "addresses", "codecs", "testing"}},
	{"Operate", []string{"operate/README", "deploy", "config", "operators", "operate/", "cli", "telemetry", "overload", "memory", "scale", "security"}},
	{"Reference", []string{"reference/"}},
	{"Decide", []string{"compare", "migrate/README", "migrate/", "versioning"}},
	{"Internals", []string{"internals/", "cluster", "protocol", "native-codec", "processes-protocol", "processes-guarantees", "processes-rules", "conformance", "faults", "tests", "simulation", "fuzzing", "benchmarks", "dependencies"}},
}

const guides = 3 // index of the section of the pages that outline does not name

// arrange puts pages into the sections of the sidebar.
func arrange(pages []*page) []section {
	left := slices.Clone(pages)
	sections := make([]section, len(outline))
	for i, o := range outline {
		sections[i].Title = o.title
		for _, name := range o.names {
			var rest []*page
			for _, p := range left {
				if p.Name == name || strings.HasSuffix(name, "/") && path.Dir(p.Name)+"/" == name {
					sections[i].Pages = append(sections[i].Pages, p)
				} else {
					rest = append(rest, p)
				}
			}
			left = rest
		}
	}
	sections[guides].Pages = append(sections[guides].Pages, left...)
	return slices.DeleteFunc(sections, func(s section) bool { return len(s.Pages) == 0 })
}
