package dubbo

import (
	"bufio"
	"net"
	"slices"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

// calledBackWith is a call back as a provider sends it.
func calledBackWith(t *testing.T, id int64, instance, value string) frame {
	t.Helper()
	body, err := appendTexts(nil, protocolVersion, "com.shop.PriceListener", "0.0.0", "changed", descriptorOf([]string{"java.lang.String"}), value)
	if err == nil {
		body, err = hessian.Codec.Append(body, map[string]string{attachmentInstance: instance})
	}
	if err != nil {
		t.Fatal(err)
	}
	return frame{flags: flagRequest | flagTwoWay | formatHessian, id: id, body: body}
}

func TestCallsBackThatNobodyTakesAreBoundedAndAnswered(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	var held bodies
	l := newLink(nil, newConnection(here, &held))
	defer l.Close()
	s := &callbackStream{link: l, to: calledMethod{method: &method{action: "prices.listen"}}, ctx: t.Context(), cancel: func() {}, instance: "1", untaken: make(chan calledBack, maxUntaken)}
	l.callbacks = map[string]*callbackStream{"1": s}
	statuses := make(chan byte, 10+maxUntaken)
	go func() {
		defer close(statuses)
		for reader := bufio.NewReader(there); ; {
			f, err := readFrame(reader, new(bodies))
			if err != nil {
				return
			}
			statuses <- f.status
		}
	}()
	take := func(id int64, instance string) {
		f := calledBackWith(t, id, instance, "a")
		held.reserve(len(f.body)) // as readFrame does
		l.takeCallBack(f)
	}
	for id := range int64(maxUntaken) {
		take(id, "1")
	}
	take(100, "1")
	take(101, "of nobody")
	if got := []byte{<-statuses, <-statuses}; !slices.Equal(got, []byte{statusExhausted, statusNoService}) {
		t.Errorf("what is too much and what nobody listens to is answered with %d", got)
	}
	var value string
	if err := s.Recv(&value); err != nil || value != "a" {
		t.Errorf("got %q, %v", value, err)
	}
	if got := <-statuses; got != statusOK {
		t.Errorf("what was received is answered with %d", got)
	}
	s.Close()
	for range maxUntaken - 1 {
		if got := <-statuses; got != statusNoService {
			t.Fatalf("what was not received is answered with %d", got)
		}
	}
	if left := held.bytes.Load(); left != 0 || len(l.callbacks) != 0 {
		t.Errorf("%d bytes and %d streams are left", left, len(l.callbacks))
	}
}
