package dubbo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

// captures are frames as Dubbo 3.3.6 sent them: heartbeats, the event at the stop of a provider, answers, and calls.
var captures = []string{
	"dabbe2000000000000000007000000014e",
	"dabb22140000000000000007000000014e",
	"dabba200000000000000000800000002" + "0152",
	"dabb0214000000000000000100000014" + "94046563686f4805647562626f05322e302e325a",
	"dabbc200000000000000000100000033" + "05322e302e3210636f6d2e6c61622e42656e63686d61726b05312e302e300470696e670048" + "04706174680c636f6d2e6c61622e4265725a",
}

// FuzzFrames reads bytes as frames, and the bodies as calls and answers, and goes on with them as the bridge does.
func FuzzFrames(f *testing.F) {
	for _, c := range captures {
		data, err := hex.DecodeString(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(append(data, data...))
	}
	generic, _ := hessian.Codec.Append(nil, "2.0.2")
	for _, v := range []any{"com.lab.Benchmark", "1.0.0", genericMethod, genericDescriptor, "find", []string{"java.lang.String"}, []any{"x"}, map[string]any{"generic": "true"}} {
		generic, _ = hessian.Codec.Append(generic, v)
	}
	f.Add(setLength(append(appendHeader(nil, flagRequest|flagTwoWay, 0, 1), generic...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var held bodies
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			f, err := readFrame(r, &held)
			if err != nil {
				break
			}
			if !bytes.Contains(data, f.body) {
				t.Errorf("the body %x is none of the data", f.body)
			}
			judgeCall(t, f.body)
			if answer, err := readReply(f.body); err == nil && answer.exception != nil {
				failed := errorOf(&mapping{}, answer.exception, "x")
				if status, _ := statusOf(failed); status == 0 {
					appendException(nil, &mapping{}, &invocation{}, failed)
				}
			}
			held.free(len(f.body))
		}
		if held.bytes.Load() != 0 {
			t.Errorf("%d bytes are held after the end", held.bytes.Load())
		}
	})
}

func judgeCall(t *testing.T, body []byte) {
	inv, err := readInvocation(body)
	if err != nil {
		return
	}
	if metadata, err := inv.metadata(); err == nil && metadata["sabir.principal"] != "" {
		t.Errorf("the metadata is %v", metadata)
	}
	if inv.timeout() < 0 {
		t.Errorf("the timeout is %v", inv.timeout())
	}
	var in struct {
		Text   string
		Number int32
		Any    any
	}
	if inv.Decode(inv.arguments, &in) == nil {
		_, _ = appendGeneralized(nil, in)
	}
}

func TestAFrameThatDoesNotComeTakesNoMemory(t *testing.T) {
	var held bodies
	header := setLength(appendHeader(nil, flagRequest, 0, 1))
	header[12], header[13] = 0, 0x70 // 7 MiB
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := readFrame(bufio.NewReader(bytes.NewReader(header)), &held); err == nil {
				b.Fatal("a frame without its body was read")
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 2*firstPiece || held.bytes.Load() != 0 {
		t.Errorf("%d bytes were allocated for nothing, and %d are held", allocated, held.bytes.Load())
	}
}

func TestBodiesBeyondTheLimitOfMemoryAreLeftOut(t *testing.T) {
	var held bodies
	held.bytes.Store(maxBodiesAtOnce - 1<<20)
	data := setLength(append(appendHeader(nil, flagRequest, 0, 1), make([]byte, 4<<20)...))
	r := bufio.NewReader(bytes.NewReader(append(data, setLength(append(appendHeader(nil, flagRequest, 0, 2), "x"...))...)))
	if f, err := readFrame(r, &held); !errors.Is(err, errNoMemory) || f.id != 1 {
		t.Errorf("got %d, %v", f.id, err)
	}
	if f, err := readFrame(r, &held); err != nil || f.id != 2 || held.bytes.Load() != maxBodiesAtOnce-1<<20+1 {
		t.Errorf("the next frame: %d, %v, and %d bytes are held", f.id, err, held.bytes.Load())
	}
}

func TestDescriptorsAreThoseOfJava(t *testing.T) {
	for descriptor, types := range map[string]string{
		"": "", "I": "int", "ILjava/lang/String;[J": "int java.lang.String long[]", "[[Ljava/lang/Object;ZBCSJFD": "java.lang.Object[][] boolean byte char short long float double",
	} {
		got, err := typesOf(descriptor)
		if err != nil || strings.Join(got, " ") != types || descriptorOf(got) != descriptor {
			t.Errorf("%q: got %q, %v, and back %q", descriptor, got, err, descriptorOf(got))
		}
	}
	for _, wrong := range []string{"L;", "Ljava", "[", "x", "I[", strings.Repeat("[", 300) + "I", strings.Repeat("I", 256)} {
		if got, err := typesOf(wrong); err == nil {
			t.Errorf("%.40q: got %q", wrong, got)
		}
	}
}
