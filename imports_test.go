package sabir_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the order of the top folders: a package may import packages of lower layers and of its own top folder, and nothing
// else of the project. A new top folder must be added here before it can import or be imported.
var layers = map[string]int{
	"internal/accept": 0, "internal/anchor": 0, "internal/cloudevent": 0, "internal/recent": 0, "internal/busypoll": 0, "internal/names": 0, "internal/processor": 0, "internal/subrequest": 0, "secret": -1, "internal/redact": -2, "internal/httpaccess": 0, "internal/seal": 0, "internal/compression": 0, "internal/ratelimit": 0, "internal/admission": 0, "internal/address": 0, "internal/identity": 0, "internal/backoff": 0, "internal/workers": 0, "internal/datagram": 0, "internal/registry": -1, "internal/compilertest": 0, "internal/race": -1, "internal/bubbletest": 0, "internal/disk": 0, "internal/deadconn": 0, "internal/deadline": 0, "internal/budget": 0, "internal/memory": 0, "internal/heap": 0, "internal/outlier": 0, "internal/httpstrict": 0, "internal/grpcweb": 0, "internal/trailersonly": 0,
	"internal/signal": 0, "internal/everynode": 0, "internal/streamgateway": -1, "internal/moduleversion": 0, "internal/errname": 0, "internal/option": -1, "internal/answer": 0, "internal/requestid": 0, "internal/schemes": 0,
	"gateway":              1,
	"internal/httpgateway": 2,
	"internal/directory":   1, "internal/directorytest": 8,
	"internal/membership": 1, // below transports: those that dial addresses link its gossip
	"internal/joining":    1, "internal/vouch": 1,
	"cluster": 2, // below transports: transport/compress has an option of Join
	"codec":   3, "transport": 3, "internal/brokers": 3,
	"validate":      4, // it names fields as the codecs do
	"internal/wire": 5, "internal/engine": 5, "internal/schema": 5,
	"internal/mesh": 6, "introspect": 6,
	".":      7,
	"policy": 8, "telemetry": 8, "admin": 8, "actor": 8, "channel": 8,
	"web": 9, "config": 9, "broker": 9,
	"bridge": 10, // Dubbo's has the policy of web/filter for pages of other sites
	"lease":  9, "gen": 11, "mcp": 11, "rpc": 11, "trpc": 11, "webhook": 11, "sabirtest": 11,
	"examples": 12, "internal/conformance": 12, "internal/simulation": 12,
	"cmd":  13, // sabir demo runs examples/shop
	"docs": 13, // docs/site, which makes the web site
}

// partOf assigns packages below internal to top folders. Other packages below internal count as top folders of their own.
var partOf = map[string]string{
	"layout": "codec", "native": "codec", "claim": "codec", "protobuf": "codec", "jsonmethods": "codec", "protoname": "codec", "protojson": "codec", "document": "codec", "codectest": "codec",
	"session": "transport", "transports": "transport", "bus": "transport", "transporttest": "transport",
	"redis": "transport", "replication": "transport", "nats": "transport", "amqp": "transport",
	"tag": "validate", "library": "validate", "route": "internal/schema", "channeltest": "internal/engine", "storetest": "actor", "grainstore": "actor",
	"api": "web", "bind": "web", "http1": "web", "httpcache": "web", "etag": "web", "filehead": "web", "isolate": "web", "browsertest": "web", "httpstream": "web", "principal": "web", "protocol": "web",
	"etcd": "internal/directory", "consul": "internal/directory",
	"inbound": "bridge", "gomicro": "bridge", "gossip": "internal/membership", "typescript": "gen", "description": "introspect", "openapi": "gen", "protofile": "gen", "gofile": "gen", "javaclass": "gen", "fastestvalidator": "internal/schema",
}

const module = "github.com/sabir-go/sabir"

// layer returns the top folder of a package; for a package below internal, the entry of layers that it counts for.
func layer(dir string) string {
	top, below, _ := strings.Cut(filepath.ToSlash(dir), "/")
	if top == "channel" && below != "" {
		return "internal/engine" // with the engines, which know nothing of nodes; package channel is above the root
	}
	if top != "internal" {
		return top
	}
	name, _, _ := strings.Cut(below, "/")
	if part := partOf[name]; part != "" {
		return part
	}
	return "internal/" + name
}

func TestImportsPointDownTheLayers(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "lab" || entry.Name() != "." && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := layer(path.Dir(filepath.ToSlash(file)))
		if _, known := layers[from]; !known {
			t.Errorf("%s: the layer %s is not in the list of layers", file, from)
		}
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			dir, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			checked++
			to := "."
			if dir != "" {
				to = layer(strings.TrimPrefix(dir, "/"))
			}
			if to != from && layers[to] >= layers[from] {
				t.Errorf("%s imports %s: %s is not below %s", file, imported, to, from)
			}
		}
		for _, banned := range []string{"util", "utils", "common", "helper", "helpers", "manager", "base"} {
			if path.Base(path.Dir(filepath.ToSlash(file))) == banned {
				t.Errorf("%s: no package is called %s", file, banned)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 5 {
		t.Fatalf("only %d imports found: the test looks in the wrong place", checked)
	}
}
