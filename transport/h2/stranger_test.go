package h2_test

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

func listen(t *testing.T) (transport.Listener, string) {
	t.Helper()
	l, err := transport.Listen(t.Context(), "h2c://:0", transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	u, _ := schemes.Parse(l.Addr())
	return l, u.Host
}

func onlyH2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func TestRequestsThatAreNoLinksGetAnAnswer(t *testing.T) {
	_, host := listen(t)
	client := &http.Transport{Protocols: onlyH2()}
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/sabir", 405},
		{"POST", "/", 404},
	} {
		request, _ := http.NewRequest(test.method, "http://"+host+test.path, nil)
		answer, err := client.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != test.status || !strings.Contains(string(text), "nodes of Sabir") {
			t.Errorf("%s %s: %s, %s", test.method, test.path, answer.Status, text)
		}
	}
}

func TestCloseEndsASocketThatAStrangerKeepsOpen(t *testing.T) {
	l, host := listen(t)
	client := &http.Transport{Protocols: onlyH2(), MaxConnsPerHost: 1}
	defer client.CloseIdleConnections()
	body, out := io.Pipe()
	request, _ := http.NewRequest("POST", "http://"+host+"/sabir", body)
	answer, err := client.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Errorf("the answer's end: %v", err)
	}
	if _, err := out.Write([]byte("x")); err == nil {
		t.Error("a request's body goes on after the connection's end")
	}
	answer.Body.Close()
}

func TestASilentStrangerIsCutOff(t *testing.T) {
	brokers.Long(t)
	t.Parallel() // it takes the five seconds that a request's header may take
	_, host := listen(t)
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

func TestDiallingWhatIsNoNodeSaysWhatAnswers(t *testing.T) {
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	other.Config.Protocols = onlyH2()
	other.Start()
	defer other.Close()
	_, err := transport.Dial(t.Context(), "h2c://"+other.Listener.Addr().String(), transport.Config{})
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a server of other paths: %v", err)
	}

	old := httptest.NewServer(http.NotFoundHandler())
	defer old.Close()
	address := "h2c://" + old.Listener.Addr().String()
	if _, err = transport.Dial(t.Context(), address, transport.Config{}); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("a server of HTTP/1.1: %v", err)
	}

	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, err = transport.Dial(t.Context(), "h2c://"+mute.Addr().String(), transport.Config{DialTimeout: 50 * time.Millisecond})
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("a server that says nothing: %v", err)
	}
}

func TestCertificatesAreNotTakenInTheClear(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	config := transport.Config{TLS: certificates}
	_, listening := transport.Listen(t.Context(), "grpc+tcp://:0", config)
	_, dialling := transport.Dial(t.Context(), "grpc+tcp://127.0.0.1:1", config)
	for _, err := range []error{listening, dialling} {
		if err == nil || !strings.Contains(err.Error(), "not encrypted") {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestNoRequestOfHTTP1IsAnswered(t *testing.T) {
	_, host := listen(t)
	requests := map[string]string{"a plain request": "POST /sabir HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"}
	maps.Copy(requests, stricttest.Heads)
	delete(requests, "HTTP/2's preface")
	for about, request := range requests {
		if statuses, text := stricttest.Talk(t, host, request); len(statuses) > 0 {
			t.Errorf("%s: answered with %d, %q", about, statuses, text)
		}
	}
}
