package docs

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/protofile"
	"github.com/sabir-go/sabir/rpc"
)

var (
	commentOfProto = regexp.MustCompile(`(?m)//.*$`)
	spaces         = regexp.MustCompile(`\s+`)
)

// testdata/users.proto is what the page about gRPC has on the left, and the first chapter of the tutorial is on the right.
func TestTheContractOfThePageAboutGRPCIsThatOfItsProtoFile(t *testing.T) {
	service := users.New()
	node := startFor(t, sabir.Serve(service), sabir.HTTP("127.0.0.1:0", rpc.Serve()))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + node.HTTPAddr() + "/$api")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var described api.API
	if err := json.NewDecoder(answer.Body).Decode(&described); err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	if err := protofile.Write(&written, described, protofile.Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/users.proto")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string {
		return spaces.ReplaceAllString(commentOfProto.ReplaceAllString(text, ""), " ")
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n}\n") {
		if got, want := plain(written.String()), strings.TrimSuffix(plain(part), "}"); !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("no %q in\n%s", want, written.String())
		}
	}
}
