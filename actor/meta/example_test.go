package meta_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
)

type mirror struct{ conn *meta.Conn }

func (m *mirror) Init(_ *actor.Process, conn *meta.Conn) error { m.conn = conn; return nil }
func (m *mirror) Data(_ *actor.Process, d meta.Data) error {
	_, err := m.conn.Write(d.Bytes)
	return err
}

var mirrorBehavior = actor.Define("mirror", (*mirror).Init, actor.OnMessage((*mirror).Data))

func ExampleListenTCP() {
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(context.Background())

	_, server, err := meta.ListenTCP(system, ":0", mirrorBehavior, meta.NetConfig{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := net.Dial("tcp", server.String())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "hello")
	got := make([]byte, 5)
	io.ReadFull(c, got)
	fmt.Printf("%s\n", got)
	// Output: hello
}

type greeter struct{}

func (*greeter) Get(_ *actor.Process, r meta.Request) (meta.Response, error) {
	return meta.Response{Body: []byte("this is " + r.URL)}, nil
}

var greeterBehavior = actor.Define[greeter, struct{}]("greeter", nil, actor.OnCall((*greeter).Get))

func ExampleHandler() {
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(context.Background())

	pid, err := actor.Spawn(system, greeterBehavior, struct{}{})
	if err != nil {
		log.Fatal(err)
	}
	site := httptest.NewServer(meta.Handler(system, pid, meta.WebConfig{}))
	defer site.Close()
	answer, err := http.Get(site.URL + "/page")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Printf("%s\n", body)
	// Output: this is /page
}

type lister struct{ done chan struct{} }

func (l *lister) Init(p *actor.Process, done chan struct{}) error {
	l.done = done
	_, err := meta.Command{Path: "echo", Args: []string{"from a command"}}.Start(p)
	return err
}
func (l *lister) Output(_ *actor.Process, o meta.Output) error {
	fmt.Printf("%s\n", o.Bytes)
	return nil
}
func (l *lister) Exited(_ *actor.Process, e meta.Exited) error {
	fmt.Println(e.State)
	close(l.done)
	return nil
}

var listerBehavior = actor.Define("lister", (*lister).Init, actor.OnMessage((*lister).Output), actor.OnMessage((*lister).Exited))

func ExampleCommand() {
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(context.Background())

	done := make(chan struct{})
	if _, err := actor.Spawn(system, listerBehavior, done); err != nil {
		log.Fatal(err)
	}
	<-done
	// Output:
	// from a command
	// exit status 0
}
