package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/sabir-go/sabir"
)

// frames is one HTTP/2 connection by prior knowledge, of which a test writes each frame.
type frames struct {
	*http2.Framer
	conn net.Conn
	head bytes.Buffer
	hp   *hpack.Encoder
}

func framesTo(t testing.TB, addr string) *frames {
	t.Helper()
	f, err := beginFrames(wireTo(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// beginFrames begins HTTP/2 on a connection. It fails where the node has closed that already.
func beginFrames(c *wire) (*frames, error) {
	f := &frames{conn: c.TCPConn}
	f.Framer = http2.NewFramer(c.TCPConn, c.TCPConn)
	f.hp = hpack.NewEncoder(&f.head)
	io.WriteString(c, http2.ClientPreface)
	if err := f.WriteSettings(); err != nil {
		return nil, err
	}
	return f, f.WriteSettingsAck() // of the node's first, which come for certain: so only the test writes
}

// header is a block of the pseudo headers of a call, and others.
func (f *frames) header(method, path string, more ...string) []byte {
	f.head.Reset()
	fields := append([]string{":method", method, ":scheme", "http", ":authority", "localhost", ":path", path}, more...)
	for i := 0; i < len(fields); i += 2 {
		f.hp.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return f.head.Bytes()
}

// drain reads frames until the connection ends, or until stop reports that a frame is the last.
func (f *frames) drain(stop func(http2.Frame) bool) (last http2.Frame, err error) {
	for {
		got, err := f.ReadFrame()
		if err != nil {
			return nil, err
		}
		if stop(got) {
			return got, nil
		}
	}
}

// eventually polls for what can only be looked at from outside.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	clock := time.NewTicker(2 * time.Millisecond)
	defer clock.Stop()
	for end := time.After(waitLimit); !ok(); {
		select {
		case <-clock.C:
		case <-end:
			t.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}

// heap is the memory that the heap and the stacks hold.
func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// held is a service whose action counts how many of its calls run, and waits for the end of its context.
func held() (s *sabir.Service, running, most, runs *atomic.Int64) {
	running, most, runs = new(atomic.Int64), new(atomic.Int64), new(atomic.Int64)
	s = sabir.NewService("held")
	sabir.Handle(s, "wait", func(ctx context.Context, _ nothing) (nothing, error) {
		runs.Add(1)
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-ctx.Done()
		return nothing{}, ctx.Err()
	}, sabir.Route("GET", "/held"))
	return s, running, most, runs
}

// CVE-2023-44487: streams that are opened and reset at once must not run without bound, and nothing of them may stay.
func TestRapidResetsAreBounded(t *testing.T) {
	const streams = 10_000
	s, running, most, runs := held()
	w := worldOf(t, nil, s)
	w.alive(t)
	goroutines, memory := runtime.NumGoroutine(), heap()
	f := framesTo(t, w.HTTPAddr())
	go f.drain(func(http2.Frame) bool { return false })
	begin := time.Now()
	sent := 0
	for i := range streams {
		id := uint32(2*i + 1)
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: f.header("GET", "/held"), EndStream: true, EndHeaders: true})
		if err == nil {
			err = f.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		if err != nil {
			break // the node has had enough, which is as good
		}
		sent++
		if i%2500 == 0 {
			w.alive(t)
		}
	}
	w.alive(t)
	took := time.Since(begin)
	peak := runtime.NumGoroutine()
	f.conn.Close()
	eventually(t, "the connection is closed", func() bool { return w.server.open.Load().engine.Connections() == 0 }) // what was sent is read till then
	eventually(t, "all handlers end", func() bool { return running.Load() == 0 })
	eventually(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+10 })
	var grown int64
	eventually(t, "at most 8 MiB stay", func() bool { grown = heap() - memory; return grown <= 8<<20 })
	t.Logf("%d streams opened and reset in %v: %d handlers ran, at most %d at once; %d goroutines before, %d then; the heap grew by %d KiB", sent, took, runs.Load(), most.Load(), goroutines, peak, grown>>10)
	if most.Load() > 300 {
		t.Errorf("%d handlers ran at once", most.Load())
	}
	w.alive(t)
}

func TestTheStreamsOfAConnectionAreBounded(t *testing.T) {
	s, running, most, _ := held()
	w := worldOf(t, nil, s)
	f := framesTo(t, w.HTTPAddr())
	for i := range 600 {
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: f.header("GET", "/held"), EndStream: true, EndHeaders: true}); err != nil {
			break
		}
	}
	refused := 0
	for refused < 300 {
		got, err := f.drain(func(got http2.Frame) bool {
			return got.Header().Type == http2.FrameRSTStream || got.Header().Type == http2.FrameGoAway
		})
		if err != nil || got.Header().Type == http2.FrameGoAway {
			break
		}
		refused++
	}
	if refused == 0 {
		t.Error("no stream was refused")
	}
	eventually(t, "a handler runs", func() bool { return most.Load() > 0 }) // those of a connection that ended need not begin
	f.conn.Close()
	eventually(t, "the connection is closed", func() bool { return w.server.open.Load().engine.Connections() == 0 })
	eventually(t, "all handlers end", func() bool { return running.Load() == 0 })
	if n := most.Load(); n > 300 {
		t.Errorf("%d handlers ran at once", n)
	}
	w.alive(t)
}

// flood writes n frames, or until the node has closed the connection.
func (f *frames) flood(n int, write func(i int) error) error {
	for i := range n {
		if err := write(i); err != nil {
			return err
		}
	}
	return nil
}

func TestFloodsOfFramesHoldNothing(t *testing.T) {
	w := worldOf(t, nil)
	w.alive(t)
	memory := heap()
	for about, flood := range map[string]func(f *frames, i int) error{
		"CONTINUATION without an end": func(f *frames, i int) error {
			if i == 0 {
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.header("GET", "/health"), EndStream: true})
			}
			f.head.Reset()
			f.hp.WriteField(hpack.HeaderField{Name: "x-flood-" + itoa(i), Value: strings.Repeat("x", 1000), Sensitive: true})
			return f.WriteContinuation(1, false, f.head.Bytes())
		},
		"empty CONTINUATION": func(f *frames, i int) error {
			if i == 0 {
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.header("GET", "/health"), EndStream: true})
			}
			return f.WriteContinuation(1, false, nil)
		},
		"SETTINGS": func(f *frames, i int) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i)})
		},
		"PING": func(f *frames, i int) error { return f.WritePing(false, [8]byte{byte(i)}) },
		"PRIORITY": func(f *frames, i int) error {
			return f.WritePriority(uint32(2*i+1), http2.PriorityParam{Weight: byte(i)})
		},
		"WINDOW_UPDATE": func(f *frames, i int) error { return f.WriteWindowUpdate(0, 1) },
		"empty DATA": func(f *frames, i int) error {
			if i == 0 {
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.header("POST", "/h/any", "content-type", "application/json"), EndHeaders: true})
			}
			return f.WriteData(1, false, nil)
		},
		"unknown frames": func(f *frames, i int) error { return f.WriteRawFrame(0xee, 0, 0, make([]byte, 100)) },
	} {
		f := framesTo(t, w.HTTPAddr())
		f.conn.SetWriteDeadline(time.Now().Add(2 * time.Second)) // the node may also just stop reading: nothing here is read
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := f.flood(6000, func(i int) error { return flood(f, i) }); err == nil && about == "CONTINUATION without an end" {
				t.Error("6 MB of headers were taken")
			}
		}()
		w.alive(t)
		<-done
		w.alive(t)
		if about == "PING" || about == "SETTINGS" { // whose answers were not read
			if grown := heap() - memory; grown > 16<<20 {
				t.Errorf("%s: %d bytes are held", about, grown)
			}
		}
		f.conn.Close()
	}
	eventually(t, "the memory returns", func() bool { return heap()-memory < 4<<20 })
}

// One header may name an entry of the table with a byte: 64 KiB of bytes then stand for many times that.
func TestAHeaderTableThatGrowsIsBounded(t *testing.T) {
	w := worldOf(t, nil)
	w.alive(t)
	memory := heap()
	f := framesTo(t, w.HTTPAddr())
	f.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1 << 30})
	f.hp.SetMaxDynamicTableSize(4 << 10)
	block := append([]byte(nil), f.header("GET", "/health", "x-bomb", strings.Repeat("x", 3900))...)
	index := byte(0x80 | 62) // the newest entry
	block = append(block, bytes.Repeat([]byte{index}, 12<<10)...)
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
	got, err := f.drain(func(got http2.Frame) bool {
		switch got.Header().Type {
		case http2.FrameHeaders, http2.FrameRSTStream, http2.FrameGoAway:
			return true
		}
		return false
	})
	if err == nil && got.Header().Type == http2.FrameHeaders {
		d := hpack.NewDecoder(4<<10, nil)
		fields, _ := d.DecodeFull(got.(*http2.HeadersFrame).HeaderBlockFragment())
		if len(fields) == 0 || fields[0].Value != "431" {
			t.Errorf("48 MiB of headers are answered with %v", fields)
		}
	}
	if grown := heap() - memory; grown > 4<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	w.alive(t)
}

// What HTTP/1 keeps out HTTP/2 keeps out too.
func TestOverHTTP2PathsHostsAndMetadataAreHeldToTheSameRules(t *testing.T) {
	w := worldOf(t, nil)
	status := func(fields ...string) string {
		f := framesTo(t, w.HTTPAddr())
		defer f.conn.Close()
		f.head.Reset()
		for i := 0; i < len(fields); i += 2 {
			f.hp.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.head.Bytes(), EndStream: true, EndHeaders: true})
		got, err := f.drain(func(got http2.Frame) bool {
			kind := got.Header().Type
			return kind == http2.FrameHeaders || kind == http2.FrameRSTStream || kind == http2.FrameGoAway
		})
		if err != nil || got.Header().Type != http2.FrameHeaders {
			return "refused"
		}
		answer, err := hpack.NewDecoder(4<<10, nil).DecodeFull(got.(*http2.HeadersFrame).HeaderBlockFragment())
		if err != nil || len(answer) == 0 {
			return fmt.Sprint(err)
		}
		return answer[0].Value
	}
	call := func(more ...string) []string {
		return append([]string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/h/any"}, more...)
	}
	for about, test := range map[string]struct {
		fields []string
		want   string // of a list
	}{
		"a call":                     {call(), "200"},
		"another host":               {[]string{":method", "POST", ":scheme", "http", ":authority", "evil.example", ":path", "/h/any"}, "403"},
		"another host beside":        {call("host", "evil.example"), "200 400 refused"},
		"a private action":           {[]string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/h/secret"}, "404"},
		"a path without a slash":     {[]string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "h/any"}, "400 refused"},
		"a path with a line's end":   {[]string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/h/any\r\nx: y"}, "400 404 refused"},
		"a header with a line's end": {call("x-meta-a", "b\r\nx-evil: yes"), "400 refused"},
		"a header in capitals":       {call("X-Meta-A", "b"), "400 refused"},
		"a header with a colon":      {call("x-meta:a", "b"), "400 refused"},
		"connection headers":         {call("connection", "keep-alive"), "400 refused"},
		"a transfer coding":          {call("transfer-encoding", "chunked"), "400 refused"},
		"a method that is none":      {[]string{":method", "POST /h/secret HTTP/1.1", ":scheme", "http", ":authority", "localhost", ":path", "/h/any"}, "400 405 refused"},
		"two paths":                  {[]string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/h/any", ":path", "/h/secret"}, "400 refused"},
		"no authority":               {[]string{":method", "POST", ":scheme", "http", ":path", "/h/any"}, "200 400 403"},
		"CONNECT":                    {[]string{":method", "CONNECT", ":authority", "evil.example:443"}, "400 403 404 405 501 refused"},
		"who calls":                  {call("x-meta-sabir.principal", "{}"), "400"},
		"a length without a body":    {call("content-length", "5"), "200 400 refused"}, // net/http takes it for no body
	} {
		if got := status(test.fields...); !strings.Contains(test.want, got) {
			t.Errorf("%s: %s, want one of %s", about, got, test.want)
		}
	}
}

func TestHTTP2IsSpokenInTheClearAndOverTLS(t *testing.T) {
	authority, certificate, _ := certificates(t)
	clear := worldOf(t, nil)
	over := worldOf(t, func(f *server) { f.config.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}} })
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	for base, transport := range map[string]*http.Transport{
		clear.base:                   {Protocols: protocols},
		"https://" + over.HTTPAddr(): {ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: authority}},
	} {
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: waitLimit}
		for path, want := range map[string]int{"/h/any": 200, "/h/secret": 404, "/h/find": 200} {
			response, err := client.Post(base+path, "application/json", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != want || response.ProtoMajor != 2 {
				t.Errorf("%s: %d over %s, want %d", base+path, response.StatusCode, response.Proto, want)
			}
		}
	}
}

// Frames of chance, over many connections at once: the node answers others all the while.
func TestRandomFramesOverHTTP2DoNoHarm(t *testing.T) {
	t.Parallel()
	w := worldOf(t, fast)
	rounds := 40
	if os.Getenv("SABIR_TEST_ALL") != "" {
		rounds = 1000
	}
	var all sync.WaitGroup
	late := 0
	for round := range rounds {
		f, err := beginFrames(wireTo(t, w.HTTPAddr()))
		if err != nil { // the limits are short, and this test may have had to wait
			late++
			continue
		}
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(round), 1))
			for range 30 {
				payload := make([]byte, dice.IntN(64))
				for i := range payload {
					payload[i] = byte(dice.IntN(256))
				}
				f.WriteRawFrame(http2.FrameType(dice.IntN(11)), http2.Flags(dice.IntN(256)), uint32(dice.IntN(8)), payload)
			}
			f.conn.(*net.TCPConn).CloseWrite()
			f.drain(func(http2.Frame) bool { return false })
			f.conn.Close()
		})
	}
	w.alive(t)
	all.Wait()
	w.alive(t)
	if late > rounds/2 {
		t.Errorf("%d of %d connections were closed before they began", late, rounds)
	}
}
