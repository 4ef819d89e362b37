package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
)

type countTo struct {
	N    int  `json:"n" validate:"gte=0"`
	Fail bool `json:"fail,omitempty"`
}

// counter is a service with a stream of numbers.
func counter() (s *sabir.Service, ended chan struct{}) {
	s, ended = sabir.NewService("counter"), make(chan struct{}, 10)
	sabir.HandleStream(s, "run", func(_ context.Context, s *sabir.Stream[countTo, int]) error {
		defer func() { ended <- struct{}{} }()
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for i := range in.N {
			if err := s.Send(i); err != nil {
				return err
			}
		}
		if in.Fail {
			return errOutOfStock
		}
		return nil
	}, sabir.Doc("counts"))
	return s, ended
}

func TestTheValuesOfAStreamAreProgressAndTheAnswerHasThemAll(t *testing.T) {
	for _, revision := range revisions {
		service, _ := counter()
		_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
		progress := make(chan string, 10)
		session := connect(t, base+"/mcp", revision, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress <- fmt.Sprintf("%v of %v: %s", r.Params.Progress, r.Params.ProgressToken, r.Params.Message)
		}})
		params := &sdk.CallToolParams{Name: "counter_run", Arguments: map[string]any{"n": 3}}
		params.SetProgressToken("p")
		result, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*sdk.TextContent).Text; text != `{"values":[0,1,2]}` || result.IsError {
			t.Errorf("%s: %s", revision, text)
		}
		for _, want := range []string{"1 of p: 0", "2 of p: 1", "3 of p: 2"} { // the client handles them beside the answer
			if got := <-progress; got != want {
				t.Errorf("%s: progress: %q, want %q", revision, got, want)
			}
		}
	}
}

func TestTheAnswerOfAClientStreamIsItsOneValue(t *testing.T) {
	service := sabir.NewService("counter")
	sabir.HandleStream(service, "sum", func(_ context.Context, s *sabir.Stream[countTo, countTo]) error {
		sum := countTo{}
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			sum.N += in.N
		}
		return s.Send(sum)
	}, sabir.ClientStream())
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := connect(t, base+"/mcp", withoutSessions, nil)
	if result, texts := callTool(t, session, "counter_sum", map[string]any{"n": 3}); result.IsError || texts[0] != `{"n":3}` {
		t.Errorf("%q", texts)
	}
}

func TestAStreamThatFailsIsAnErrorForTheModel(t *testing.T) {
	service, _ := counter()
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := connect(t, base+"/mcp", withoutSessions, nil)
	for about, arguments := range map[string]map[string]any{"at once": {"n": 0, "fail": true}, "after values": {"n": 2, "fail": true}} {
		if result, texts := callTool(t, session, "counter_run", arguments); !result.IsError || texts[0] != errOutOfStock.Message {
			t.Errorf("%s: %q", about, texts)
		}
	}
	if result, texts := callTool(t, session, "counter_run", map[string]any{"n": -1}); !result.IsError || !strings.Contains(texts[0], "n: ") {
		t.Errorf("a broken rule: %q", texts)
	}
}

func TestAStreamWithoutEndIsCutAndItsHandlerEnds(t *testing.T) {
	service, ended := counter()
	_, base := start(t, []*sabir.Service{service}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	result, texts := callTool(t, connect(t, base+"/mcp", withSessions, nil), "counter_run", map[string]any{"n": 1 << 40})
	if result.IsError || !strings.HasSuffix(texts[0], `,998,999],"truncated":true}`) {
		t.Errorf("%.100q", texts)
	}
	<-ended
}

func TestAListOfToolsThatHasChangedIsNotified(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			node, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
			changed := make(chan struct{}, 10)
			session := connect(t, base+"/mcp", revision, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
			if toolsOf(t, session)["counter_run"] != nil {
				t.Fatal("the tool is there already")
			}
			ctx, end := context.WithTimeout(t.Context(), waitLimit)
			defer end()
			service, _ := counter()
			// The stream of a client that has just connected may not be there yet, so the service comes and goes until it is.
			for notified := false; !notified; {
				if err := node.Add(ctx, service); err != nil {
					t.Fatal(err)
				}
				select {
				case <-changed:
					notified = true
				case <-time.After(time.Second):
					if err := node.Remove(ctx, service); err != nil {
						t.Fatal(err)
					}
				case <-ctx.Done():
					t.Fatal("no notification")
				}
			}
			if toolsOf(t, session)["counter_run"] == nil {
				t.Error("the new tool is not in the list")
			}
			if err := node.Remove(ctx, service); err != nil {
				t.Fatal(err)
			}
			for toolsOf(t, session)["counter_run"] != nil {
				select {
				case <-changed:
				case <-ctx.Done():
					t.Fatal("the tool stays")
				}
			}
		})
	}
}
