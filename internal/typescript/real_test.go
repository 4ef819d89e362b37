package typescript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// Tests against a real node: it describes itself, the client is made of that, and calls it.

var errNoSuchUser = sabir.NewError(sabir.CodeNotFound, "NoSuchUser", "there is no such user").WithData(NoUser{})

// Careless is an input whose own code panics.
type Careless struct {
	Word Panicking `json:"word"`
}

type Panicking string

func (*Panicking) UnmarshalText([]byte) error { panic("swordfish") }

// startNode runs a node with most of the shop's actions.
func startNode(t *testing.T) *sabir.Node {
	t.Helper()
	users := sabir.NewService("users")
	sabir.Handle(users, "get", func(_ context.Context, in GetUser) (User, error) {
		if in.ID == 404 {
			return User{}, errNoSuchUser.WithData(NoUser{ID: 1<<62 + 1, Before: moment})
		}
		u := ada(in.ID)
		u.Name = strings.Join(append([]string{in.Lang, in.Tenant}, in.Fields...), "|")
		return u, nil
	}, sabir.Route("GET", "/users/{id}"), sabir.Errors(errNoSuchUser), sabir.Idempotent())
	sabir.Handle(users, "create", func(_ context.Context, in NewUser) (User, error) {
		u := ada(in.Cents)
		u.Name, u.Born, u.Avatar, u.Tags = in.Name, in.Born, in.Avatar, in.Tags
		return u, nil
	})

	shop := sabir.NewService("shop")
	sabir.Handle(shop, "numbers", func(_ context.Context, in Numbers) (Numbers, error) { return in, nil })
	sabir.Handle(shop, "wait", func(ctx context.Context, in Wait) (Wait, error) {
		select {
		case <-ctx.Done():
			return in, ctx.Err()
		case <-time.After(time.Duration(in.Millis) * time.Millisecond):
			return in, nil
		}
	})
	tail := func(ctx context.Context, s *sabir.Stream[Tail, Line]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for i := range 3 {
			if err := s.Send(Line{N: 1<<60 + int64(in.From+i), At: moment, Text: in.File}); err != nil {
				return err
			}
		}
		if in.File == "breaks" {
			return sabir.NewError(sabir.CodeDataLoss, "LostFile", "the file is gone")
		}
		if in.File == "endless" {
			<-ctx.Done()
		}
		return nil
	}
	sabir.HandleStream(shop, "tail", tail)
	sabir.HandleStream(shop, "lines", tail, sabir.ServerStream())
	sabir.HandleStream(shop, "last", func(_ context.Context, s *sabir.Stream[Tail, Line]) error {
		var last Line
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			last = Line{N: last.N + 1, At: moment, Text: in.File}
		}
		return s.Send(last)
	}, sabir.ClientStream())
	sabir.HandleStream(shop, "room", func(_ context.Context, s *sabir.Stream[Said, Said]) error {
		for said, err := range s.All() {
			if err != nil {
				return err
			}
			if said.Text == "boom" {
				return sabir.NewError(sabir.CodeAborted, "Boom", "that was too much")
			}
			if err := s.Send(said); err != nil {
				return err
			}
		}
		return s.Send(Said{Text: "goodbye", At: moment})
	})
	sabir.HandleStream(shop, "put", func(ctx context.Context, s *sabir.Stream[[]byte, Receipt]) error {
		hash := sha256.New()
		var r Receipt
		for chunk, err := range s.All() {
			if err != nil {
				return err
			}
			hash.Write(chunk)
			r.Bytes += int64(len(chunk))
		}
		m := sabir.InfoFromContext(ctx).Metadata
		r.Name, r.Type, r.SHA256 = m["file-name"], m["content-type"], hex.EncodeToString(hash.Sum(nil))
		return s.Send(r)
	})
	sabir.HandleStream(shop, "file", func(_ context.Context, s *sabir.Stream[FileName, []byte]) error {
		if _, err := s.Recv(); err != nil {
			return err
		}
		for range 10 {
			if err := s.Send([]byte(strings.Repeat("x", 10_000))); err != nil {
				return err
			}
		}
		return nil
	})

	sessions := auth.Session(auth.SessionConfig{Secret: []byte("a secret of at least 32 random bytes!"), Idle: 4 * time.Second}) // prolonged after 2
	account := sabir.NewService("account")
	sabir.Handle(account, "signIn", func(ctx context.Context, in FileName) (sabir.Empty, error) {
		return sabir.Empty{}, sessions.SignIn(web.ExchangeFromContext(ctx), auth.Principal{Subject: in.Name})
	})
	sabir.Handle(account, "signOut", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sessions.SignOut(web.ExchangeFromContext(ctx))
	})
	sabir.Handle(account, "who", func(ctx context.Context, _ sabir.Empty) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject, nil
	})
	sabir.Handle(account, "secret", func(context.Context, sabir.Empty) (string, error) { return "it", nil }, sabir.Use(auth.Require()))
	sabir.HandleStream(account, "watch", func(ctx context.Context, s *sabir.Stream[sabir.Empty, int]) error {
		if err := s.Send(1); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	var busy atomic.Int64
	sabir.Handle(account, "busyOnce", func(context.Context, sabir.Empty) (string, error) {
		if busy.Add(1) == 1 {
			e := sabir.NewError(sabir.CodeResourceExhausted, "Busy", "come back later")
			e.Retryable = true
			return "", e
		}
		return "done", nil
	})
	sabir.Handle(account, "panics", func(context.Context, Careless) (sabir.Empty, error) { return sabir.Empty{}, nil })

	node := sabir.NewNode(sabir.Serve(users, shop, account), sabir.Logger(slog.New(slog.DiscardHandler)),
		sabir.HTTP("127.0.0.1:0", web.With(web.Config{Auth: []auth.Authenticator{sessions}, AllowAnonymous: true, Events: []string{"orders.*"}, Title: "Shop", Version: "1.2.0"})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return node
}

// describedBy asks a node for its description.
func describedBy(t *testing.T, node *sabir.Node) (a api.API) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Get("http://" + node.HTTPAddr() + "/$api")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %v: %.1000s", response.Status, err, text)
	}
	return a
}

func TestTheClientOfARealNode(t *testing.T) {
	brokers.Long(t)
	compiler(t)
	node := startNode(t)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "api.ts"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(f, describedBy(t, node)); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join("testdata", "node", "real.ts"), filepath.Join(dir, "real.ts"))
	tsc(t, dir, "--strict", "--noEmitOnError", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom", "real.ts")
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, which string, least int) {
		command := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), "--experimental-websocket", "--disallow-code-generation-from-strings",
			filepath.Join(dir, "real.js"), "http://"+node.HTTPAddr(), which)
		lines, err := command.CombinedOutput()
		if err != nil || strings.Contains(string(lines), "FAILED") || strings.Count(string(lines), "ok ") < least {
			t.Errorf("%v\n%s", err, lines)
		}
	}
	t.Run("calls it", func(t *testing.T) {
		defer emitting(node)()
		run(t, "all but WebSocket", 8)
	})
	t.Run("talks to it over a WebSocket", func(t *testing.T) { run(t, "WebSocket", 1) })
}

// emitting emits events until the function that it returns is called: nothing reports when a listener is there.
func emitting(node *sabir.Node) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				_ = sabir.Emit(context.Background(), node, "orders.placed", Line{N: 1<<60 + 1, At: moment, Text: "rope"}) // one that fails is emitted again
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

type PlaceOrder struct {
	Item     string `json:"item" validate:"required"`
	Quantity int    `json:"quantity" validate:"min=1"`
}

type PlacedOrder struct {
	ID     int       `json:"id"`
	Item   string    `json:"item"`
	State  string    `json:"state"`
	Placed time.Time `json:"placed"`
}

type FindOrder struct {
	ID int `json:"id"`
}

// The programs are those of docs/http-clients.md.
func TestTheProgramsOfTheGuideCompileAndUploadWithTheClientOfANode(t *testing.T) {
	brokers.Long(t)
	compiler(t)
	orders := sabir.NewService("orders")
	noSuchOrder := sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "no such order")
	sabir.Handle(orders, "place", func(context.Context, PlaceOrder) (PlacedOrder, error) { return PlacedOrder{}, nil })
	sabir.Handle(orders, "get", func(context.Context, FindOrder) (PlacedOrder, error) { return PlacedOrder{}, noSuchOrder },
		sabir.Route("GET", "/orders/{id}"), sabir.Errors(noSuchOrder))
	sabir.HandleStream(orders, "watch", func(context.Context, *sabir.Stream[FindOrder, PlacedOrder]) error { return nil }, sabir.ServerStream())
	files := sabir.NewService("files")
	sabir.HandleStream(files, "put", func(ctx context.Context, s *sabir.Stream[[]byte, string]) error {
		size := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err
			}
			size += len(chunk)
		}
		return s.Send(fmt.Sprintf("%s has %d bytes", sabir.InfoFromContext(ctx).Metadata["file-name"], size))
	}, sabir.ClientStream())
	node := sabir.NewNode(sabir.Serve(orders, files), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.HTTP("127.0.0.1:0"))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "api.ts"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(f, describedBy(t, node)); err != nil {
		t.Fatal(err)
	}
	programs := []string{"client.ts", "functions.ts", "upload.ts"}
	for _, name := range programs {
		copyFile(t, filepath.Join("testdata", "guide", name), filepath.Join(dir, name))
	}
	tsc(t, dir, append([]string{"--strict", "--noEmitOnError", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"}, programs...)...)
	for name, text := range map[string]string{"package.json": `{"type":"module"}`, "run.js": `import { createClient } from "./api.js";
import { upload } from "./upload.js";
async function* file() { for (let i = 0; i < 4; i++) yield new Uint8Array(100_000); }
console.log(await upload(createClient({ baseUrl: process.argv[2] }), file(), 400_000));
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), filepath.Join(dir, "run.js"), "http://"+node.HTTPAddr()).CombinedOutput()
	if want := "25 %\n50 %\n75 %\n100 %\na.zip has 400000 bytes\n"; err != nil || string(out) != want {
		t.Errorf("the upload printed %s, %v; want %s", out, err, want)
	}
}
