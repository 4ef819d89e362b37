package wire

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/admission"
)

// The sizes of the message that the RPC benchmarks of others use.
const (
	requestSize = 677
	replySize   = 611
)

// init makes this process the other side of a benchmark, where it was started as that. It serves one connection
// after the other, reports for each line on its standard input what it has used so far, and ends with that input.
func init() {
	mode := os.Getenv("SABIR_WIRE_BENCHMARK")
	if mode == "" {
		return
	}
	network, address := "tcp", "127.0.0.1:0"
	if path := os.Getenv("SABIR_WIRE_SOCKET"); path != "" {
		network, address = "unix", path
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	admitted := admission.New() // of all links of the process, as in a node
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if mode == "raw" {
				go rawEcho(conn)
				continue
			}
			c, serves := Config{Node: "server", CallersRead: strings.HasSuffix(mode, callersReadMode)}, benchmarkNode(strings.HasPrefix(mode, "inline"))
			if mode == admittedMode {
				c.Admission = admitted
			}
			if !strings.HasSuffix(mode, sealedMode) {
				New(conn, peerOfTest(Config{Node: "client"}, false), c, serves)
				continue
			}
			c.Keys = keysOf(testKey)
			sealed, peer, err := Handshake(context.Background(), conn, c, false, ForLink)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			New(sealed, peer, c, serves)
		}
	}()
	lines := bufio.NewReader(os.Stdin)
	for {
		if _, err := lines.ReadString('\n'); err != nil {
			os.Exit(0)
		}
		cpu, allocs := used()
		fmt.Println(cpu.Microseconds(), allocs)
	}
}

// admittedMode is workers behind the limit that nodes have, so the ratio of the two is what the limit costs.
const admittedMode = "admitted"

// callersReadMode ends the name of a mode whose links have Config.CallersRead.
const callersReadMode = "-callersRead"

// sealedMode ends the name of a mode whose links are sealed.
const sealedMode = "-sealed"

func benchmarkNode(inline bool) *node {
	n := newNode()
	n.inline = inline
	n.post = answerPosts()
	reply := make([]byte, replySize)
	n.serve["say"] = func(in *Inbound) { in.Reply(append(AppendRef(in.Buf(), 0), reply...)) }
	n.serve["echo"] = echo
	n.streams["count"] = func(s *Stream) {
		count := 0
		for {
			if _, _, err := s.Recv(); err != nil {
				break
			}
			count++
		}
		s.Send(s.Context(), []byte(fmt.Sprint("\x00", count)))
	}
	return n
}

func rawEcho(conn net.Conn) {
	defer conn.Close()
	head := make([]byte, 8)
	var buf []byte
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		size, back := int(head[0])|int(head[1])<<8|int(head[2])<<16|int(head[3])<<24, int(head[4])|int(head[5])<<8|int(head[6])<<16|int(head[7])<<24
		buf = slices.Grow(buf[:0], max(size, back))
		if _, err := io.ReadFull(conn, buf[:size]); err != nil {
			return
		}
		if _, err := conn.Write(buf[:back]); err != nil {
			return
		}
	}
}

func used() (cpu time.Duration, allocs uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return processorTime(), m.Mallocs
}

// process is this test binary, running as the other side.
type process struct {
	network, address string
	input            io.Writer
	output           *bufio.Reader
}

func startProcess(b *testing.B, mode string, unix bool) process {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SABIR_WIRE_BENCHMARK="+mode)
	p := process{network: "tcp"}
	if unix {
		p.network = "unix"
		cmd.Env = append(cmd.Env, "SABIR_WIRE_SOCKET="+b.TempDir()+"/s")
	}
	cmd.Stderr = os.Stderr
	p.input, _ = cmd.StdinPipe()
	output, _ := cmd.StdoutPipe()
	p.output = bufio.NewReader(output)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := fmt.Fscanln(p.output, &p.address); err != nil {
		b.Fatal(err)
	}
	return p
}

func (p process) dial(b *testing.B) net.Conn {
	b.Helper()
	conn, err := net.Dial(p.network, p.address)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}

func (p process) link(b *testing.B) *Link { return p.linkWith(b, nil) }

// linkWith is a link whose posts of the other process go to post.
func (p process) linkWith(b *testing.B, post func(*Link, uint8, []byte)) *Link {
	n := newNode()
	n.post = post
	l := New(p.dial(b), peerOfTest(Config{Node: "server"}, true), Config{Node: "client"}, n)
	b.Cleanup(func() { l.Close(nil); <-l.finished })
	return l
}

// sealedLink is a link to a process whose mode is a sealedMode.
func (p process) sealedLink(b *testing.B) *Link {
	c := Config{Node: "client", Keys: keysOf(testKey)}
	conn, peer, err := Handshake(b.Context(), p.dial(b), c, true, ForLink)
	if err != nil {
		b.Fatal(err)
	}
	l := New(conn, peer, c, newNode())
	b.Cleanup(func() { l.Close(nil); <-l.finished })
	return l
}

// used returns the CPU time and the allocations of both processes since their start.
func (p process) used(b *testing.B) (time.Duration, uint64) {
	b.Helper()
	fmt.Fprintln(p.input)
	var micros, theirs uint64
	if _, err := fmt.Fscanln(p.output, &micros, &theirs); err != nil {
		b.Fatal(err)
	}
	cpu, allocs := used()
	return cpu + time.Duration(micros)*time.Microsecond, allocs + theirs
}

// measure has callers make b.N calls between them, and reports what that took.
func (p process) measure(b *testing.B, callers int, prepare func() (do func())) {
	dos := make([]func(), callers)
	for i := range dos {
		dos[i] = prepare()
		for range 50 {
			dos[i]()
		}
	}
	runtime.GC()
	cpu, allocs := p.used(b)
	latencies := make([][]time.Duration, callers)
	for i := range latencies {
		latencies[i] = make([]time.Duration, 0, b.N/callers/8+2)
	}
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range callers {
		n := b.N / callers
		if i < b.N%callers {
			n++
		}
		wg.Go(func() {
			for at := range n {
				if at%8 != 0 {
					dos[i]()
					continue
				}
				begin := time.Now()
				dos[i]()
				latencies[i] = append(latencies[i], time.Since(begin))
			}
		})
	}
	wg.Wait()
	took := b.Elapsed()
	b.StopTimer()
	cpu2, allocs2 := p.used(b)
	all := slices.Concat(latencies...)
	slices.SortFunc(all, cmp.Compare)
	b.ReportMetric(float64(b.N)/took.Seconds(), "calls/s")
	b.ReportMetric(float64((cpu2-cpu).Nanoseconds())/float64(b.N)/1e3, "cpu-us/call")
	b.ReportMetric(float64(allocs2-allocs)/float64(b.N), "allocs/call")
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds())/1e3, "p99-us")
}

// BenchmarkCall is a 677-byte request with a 611-byte reply between two processes, the bytes only copied.
func BenchmarkCall(b *testing.B) {
	for _, network := range []string{"tcp", "unix"} {
		for _, mode := range []string{"inline", "workers", admittedMode} {
			for _, callers := range []int{1, 8, 32, 100, 1000} {
				b.Run(fmt.Sprintf("%s/%s/%d", network, mode, callers), func(b *testing.B) {
					p := startProcess(b, mode, network == "unix")
					l := p.link(b)
					route := l.Declare(CallRoute, "say", "bytes")
					request := make([]byte, requestSize)
					ctx := context.Background()
					p.measure(b, callers, func() func() {
						return func() {
							c := l.Call(route)
							if err := c.Do(ctx, append(AppendRef(c.Buf(), 0), request...)); err != nil {
								b.Error(err)
							}
							c.Free()
						}
					})
					s := l.Stats()
					b.ReportMetric(float64(s.FramesOut)/float64(s.Writes), "frames/write")
					b.ReportMetric(float64(s.FramesIn)/float64(s.Reads), "frames/read")
				})
			}
		}
	}
}

// BenchmarkRawEcho sends the same bytes over bare connections, one for each caller, as the reference for calls.
func BenchmarkRawEcho(b *testing.B) {
	for _, network := range []string{"tcp", "unix"} {
		for _, callers := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d", network, callers), func(b *testing.B) {
				p := startProcess(b, "raw", network == "unix")
				p.measure(b, callers, func() func() { return rawCaller(b, p.dial(b), requestSize, replySize) })
			})
		}
	}
}

func rawCaller(b *testing.B, conn net.Conn, size, back int) func() {
	b.Cleanup(func() { conn.Close() })
	out := make([]byte, 8+size)
	for i, n := range []int{size, back} {
		for j := range 4 {
			out[4*i+j] = byte(n >> (8 * j))
		}
	}
	in := make([]byte, back)
	return func() {
		if _, err := conn.Write(out); err != nil {
			b.Error(err)
		}
		if _, err := io.ReadFull(conn, in); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkLargeEcho is a mebibyte there and back.
func BenchmarkLargeEcho(b *testing.B) {
	const size = 1 << 20
	b.Run("raw", func(b *testing.B) {
		p := startProcess(b, "raw", false)
		b.SetBytes(size)
		p.measure(b, 1, func() func() { return rawCaller(b, p.dial(b), size, size) })
	})
	b.Run("link", func(b *testing.B) {
		p := startProcess(b, "workers", false)
		l := p.link(b)
		route := l.Declare(CallRoute, "echo", "bytes")
		value := make([]byte, size)
		b.SetBytes(size)
		p.measure(b, 1, func() func() {
			return func() {
				c := l.Call(route)
				if err := c.Do(context.Background(), append(AppendRef(c.Buf(), 0), value...)); err != nil {
					b.Error(err)
				}
				c.Free()
			}
		})
		stats := l.Stats()
		b.ReportMetric(float64(stats.Writes)/float64(b.N), "writes/call")
		b.ReportMetric(float64(stats.Reads)/float64(b.N), "reads/call")
	})
}

// BenchmarkStream is messages of 1 KiB in one direction, counted by the other process.
func BenchmarkStream(b *testing.B) {
	p := startProcess(b, "workers", false)
	l := p.link(b)
	route := l.Declare(StreamRoute, "count", "bytes")
	s, err := l.Open(context.Background(), route, Meta{})
	if err != nil {
		b.Fatal(err)
	}
	value := append(AppendRef(nil, 0), make([]byte, 1024)...)
	b.SetBytes(1024)
	cpu, allocs := p.used(b)
	b.ResetTimer()
	for range b.N {
		if err := s.Send(context.Background(), value); err != nil {
			b.Fatal(err)
		}
	}
	s.EndSends()
	got, _, err := s.Recv()
	if string(got) != fmt.Sprint(b.N) {
		b.Fatalf("the peer counted %q of %d: %v", got, b.N, err)
	}
	took := b.Elapsed()
	b.StopTimer()
	cpu2, allocs2 := p.used(b)
	b.ReportMetric(float64(b.N)/took.Seconds(), "messages/s")
	b.ReportMetric(float64((cpu2-cpu).Nanoseconds())/float64(b.N)/1e3, "cpu-us/message")
	b.ReportMetric(float64(allocs2-allocs)/float64(b.N), "allocs/message")
	stats := l.Stats()
	b.ReportMetric(float64(stats.FramesOut)/float64(stats.Writes), "frames/write")
}

// BenchmarkSealed compares calls over plain and sealed links, turn by turn: -benchtime 20000x -count 10 and benchstat -col /link show what
// sealing costs.
func BenchmarkSealed(b *testing.B) {
	for _, of := range []struct {
		name, route   string
		size, callers int
	}{{"677B/100", "say", requestSize, 100}, {"677B/1", "say", requestSize, 1}, {"1MiB/1", "echo", 1 << 20, 1}} {
		for _, sealed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/link=%s", of.name, map[bool]string{false: "plain", true: "sealed"}[sealed]), func(b *testing.B) {
				var l *Link
				p := process{}
				if sealed {
					p = startProcess(b, "workers"+sealedMode, false)
					l = p.sealedLink(b)
				} else {
					p = startProcess(b, "workers", false)
					l = p.link(b)
				}
				route, value := l.Declare(CallRoute, of.route, "bytes"), make([]byte, of.size)
				b.SetBytes(int64(of.size))
				p.measure(b, of.callers, func() func() {
					return func() {
						c := l.Call(route)
						if err := c.Do(context.Background(), append(AppendRef(c.Buf(), 0), value...)); err != nil {
							b.Error(err)
						}
						c.Free()
					}
				})
			})
		}
	}
}

// BenchmarkOneCaller is a caller by itself, with and without Config.CallersRead.
func BenchmarkOneCaller(b *testing.B) {
	for _, mode := range []string{"inline", "workers"} {
		for _, read := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/callersRead=%v", mode, read), func(b *testing.B) {
				if read {
					mode += callersReadMode
				}
				p := startProcess(b, mode, false)
				l := New(p.dial(b), peerOfTest(Config{Node: "server"}, true), Config{Node: "client", CallersRead: read}, newNode())
				b.Cleanup(func() { l.Close(nil); <-l.finished })
				route, request := l.Declare(CallRoute, "say", "bytes"), make([]byte, requestSize)
				p.measure(b, 1, func() func() {
					return func() {
						c := l.Call(route)
						if err := c.Do(context.Background(), append(AppendRef(c.Buf(), 0), request...)); err != nil {
							b.Error(err)
						}
						c.Free()
					}
				})
			})
		}
	}
}
