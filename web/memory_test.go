package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/memory"
)

// answerOf reads the answer that comes over a connection.
func answerOf(t *testing.T, conn net.Conn) (status int, retryAfter, body string) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(waitLimit))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Retry-After"), string(text)
}

// Both engines: a body of up to 64 KiB is read by the first, a longer one by net/http.
func TestBodiesThatAreReceivedTakeNoMoreMemoryThanThereIsAndOthersGet503(t *testing.T) {
	for _, size := range []int{60 << 10, 900 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			node := start(t, sabir.Serve(shop()), sabir.HTTP(":0"), sabir.Limits{NodeBuffers: 4 << 20})
			budget := memory.OfNode(node)
			head := func(length int) string {
				return fmt.Sprintf("POST /shop/hello HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
			}
			var slow []net.Conn
			defer func() {
				for _, conn := range slow {
					conn.Close()
				}
			}()
			for budget.Usage().Refused == 0 && len(slow) < 200 { // each but for its last byte
				before := budget.Usage()
				slow = append(slow, dialAndAsk(t, node, head(size)+strings.Repeat(" ", size-1)))
				eventually(t, "the body is read or refused", func() bool {
					now := budget.Usage()
					return now.Refused > 0 || now.Bytes >= before.Bytes+int64(size)*3/4 || now.Bytes >= 4<<20-int64(size)
				})
			}
			if used := budget.Usage(); used.Bytes > 4<<20+int64(len(slow))*8<<10 || used.Refused == 0 {
				t.Fatalf("%d bodies take %+v", len(slow), used)
			}
			conn := dialAndAsk(t, node, head(size)+strings.Repeat(" ", size-1))
			defer conn.Close()
			if status, after, body := answerOf(t, conn); status != http.StatusServiceUnavailable || after == "" || !strings.Contains(body, "TooManyCalls") {
				t.Errorf("the next one got %d, Retry-After %q, %s", status, after, body)
			}
			small := dialAndAsk(t, node, head(len(`{"name":"Ada"}`))+`{"name":"Ada"}`)
			defer small.Close()
			if status, _, body := answerOf(t, small); status != http.StatusOK {
				t.Errorf("a small one got %d %s; %+v", status, body, budget.Usage())
			}
			for _, conn := range slow {
				conn.Close()
			}
			eventually(t, "nothing is counted any more", func() bool { return budget.Usage().Bytes == 0 })
		})
	}
}

// Clients ask for an answer of a mebibyte each, and do not read it.
func TestAnswersThatNobodyReadsAreCutOffWhereOthersNeedTheMemory(t *testing.T) {
	for engine, padding := range map[string]int{"the own one": 0, "net/http": 70 << 10} {
		t.Run(engine, func(t *testing.T) {
			s := sabir.NewService("long")
			sabir.Handle(s, "one", func(context.Context, nothing) (string, error) { return strings.Repeat("x", 12<<20), nil })
			node := start(t, sabir.Serve(s), sabir.HTTP(":0"), sabir.Limits{NodeBuffers: 128 << 20}) // of which answers may take 16 MiB
			budget := memory.OfNode(node)
			request := fmt.Sprintf("POST /long/one HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{}%s", 2+padding, strings.Repeat(" ", padding))
			for range 6 {
				defer dialAndAsk(t, node, request).Close()
			}
			eventually(t, "answers are cut off until the rest fits", func() bool {
				used := budget.Usage()
				return used.Ended >= 4 && used.Streams <= 16<<20
			})
			reader, err := net.Dial("tcp", node.HTTPAddr()) // with the usual buffers
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			if _, err := io.WriteString(reader, request); err != nil {
				t.Fatal(err)
			}
			if status, _, body := answerOf(t, reader); status != http.StatusOK || len(body) < 12<<20 {
				t.Errorf("one who reads got %d and %d bytes", status, len(body))
			}
		})
	}
}

func TestTheAnswersOfABatchTakeAnEighthOfTheNodesMemory(t *testing.T) {
	s := sabir.NewService("long")
	sabir.Handle(s, "one", func(context.Context, nothing) (string, error) { return strings.Repeat("x", 100<<10), nil })
	node := start(t, sabir.Serve(s), sabir.HTTP(":0"), sabir.Limits{NodeBuffers: 8 << 20})
	calls := strings.TrimSuffix(strings.Repeat(`{"action":"long.one","input":{}},`, 100), ",")
	answer, err := http.Post("http://"+node.HTTPAddr()+"/batch", "application/json", strings.NewReader("["+calls+"]"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var results []batchResult
	if err := json.NewDecoder(answer.Body).Decode(&results); err != nil || len(results) != 100 {
		t.Fatal(len(results), err)
	}
	done := 0
	for i, r := range results {
		switch {
		case r.Status == http.StatusOK:
			done++
		case r.Status != http.StatusServiceUnavailable || !strings.Contains(string(r.Problem), "TooManyCalls"):
			t.Errorf("call %d: %d %s", i, r.Status, r.Problem)
		}
	}
	if done < 10 || done > 11+batchWidth {
		t.Errorf("%d of 100 calls were answered", done)
	}
	eventually(t, "nothing is counted any more", func() bool { return memory.OfNode(node).Usage().Bytes == 0 })
}
