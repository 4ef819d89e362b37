package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/http/user"
)

// The ways in which a fake can be wrong.
const (
	good    = "good"
	wrong   = "wrong"   // answers hello with something else
	echo    = "echo"    // sends the user back as it came
	lenient = "lenient" // validates nothing, and takes even what is not JSON
	lax     = "lax"     // validates nothing
	hasty   = "hasty"   // closes the connection after each answer
	wrapped = "wrapped" // answers as tRPC does
)

func fake(t *testing.T, how string) (address string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		if how == wrong {
			io.WriteString(w, `{"hello":"moon"}`)
			return
		}
		io.WriteString(w, `{"hello":"world"}`)
	})
	mux.HandleFunc("POST /updateUser", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var u user.User
		var f user.Fields
		broken := json.Unmarshal(text, &u) != nil
		if how == hasty {
			w.Header().Set("Connection", "close")
		}
		switch {
		case how == echo:
			w.Write(text)
			return
		case how == lenient:
		case how == lax && broken, how != lax && f.Read(text) != nil:
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		answer, err := json.Marshal(u.Updated())
		if err != nil {
			t.Error(err)
		}
		if how == wrapped {
			answer = fmt.Appendf(nil, `{"result":{"data":%s}}`, answer)
		}
		w.Write(answer)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestAnswersAreChecked(t *testing.T) {
	for _, c := range []struct {
		how, wants string
		server     Server
	}{
		{good, "", Server{}},
		{wrapped, "", Server{}},
		{lax, "", Server{Lax: true}},
		{lax, "updateUser with a negative id: status 200, want an error", Server{}},
		{wrong, `want 200 and {"hello":"world"}`, Server{}},
		{echo, "updateUser: the answer is", Server{}},
		{lenient, "updateUser with broken JSON: status 200, want an error", Server{Lax: true}},
		{hasty, "pipelined: answer 2", Server{}},
		{good, "hello: status 404", Server{Hello: "/elsewhere"}},
	} {
		err := c.server.Check(t.Context(), fake(t, c.how))
		if c.wants == "" && err != nil || c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants)) {
			t.Errorf("%s, %+v: %v, want %q", c.how, c.server, err, c.wants)
		}
	}
}

func TestTheSecondCheckNoticesTheSame(t *testing.T) {
	for how, wants := range map[string]string{
		good: "", wrong: `want 200 and {"hello":"world"}`, echo: "updateUser: the answer is", lenient: "broken JSON: status 200",
	} {
		err := Server{}.CheckAgain(t.Context(), fake(t, how))
		if wants == "" && err != nil || wants != "" && (err == nil || !strings.Contains(err.Error(), wants)) {
			t.Errorf("%s: %v, want %q", how, err, wants)
		}
	}
}

func TestAServerThatIsSilentFailsTheCheck(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (Server{}).Check(ctx, listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "hello:") {
		t.Errorf("got %v", err)
	}
}

func TestTheFirstAnswerOnAConnection(t *testing.T) {
	for how, good := range map[string]bool{good: true, wrong: false} {
		address := fake(t, how)
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Server{}).Answer(conn, address); (err == nil) != good {
			t.Errorf("%s: %v", how, err)
		}
		conn.Close()
	}
}

func TestPathsOfActions(t *testing.T) {
	own := Server{Hello: "/h?x=1", Update: "/u"}
	for _, c := range []struct {
		server       Server
		action, want string
	}{{Server{}, Hello, "/hello"}, {Server{}, UpdateUser, "/updateUser"}, {own, Hello, "/h?x=1"}, {own, UpdateUser, "/u"}} {
		if got := c.server.Path(c.action); got != c.want {
			t.Errorf("%+v, %s: %s, want %s", c.server, c.action, got, c.want)
		}
	}
}
