package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/app"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/actor/meta"
	"github.com/sabir-go/sabir/actor/pool"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/dubbo/nacos"
	"github.com/sabir-go/sabir/bridge/dubbo/zookeeper"
	"github.com/sabir-go/sabir/bridge/micro"
	micronats "github.com/sabir-go/sabir/bridge/micro/nats"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	codecjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/lease"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/policy/rediscache"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/auth/redissessions"
	"github.com/sabir-go/sabir/web/dashboard"
	"github.com/sabir-go/sabir/webhook"
)

// configs has each exported configuration of the module, which TestEveryConfigIsAmongThoseThatShowNoSecret holds.
var configs = []any{
	actor.Config{}, actor.SpawnConfig{}, actor.TopicConfig{}, app.Config{}, supervise.Config{}, store.Config{}, channel.Config{}, engine.Config{}, micro.Config{}, dubbo.Config{}, moleculer.Config{}, moleculer.Encryption{}, httpaccess.Config{}, rediscache.Config{},
	config.Config{}, cluster.Config{}, telemetry.Config{}, transport.Config{}, grain.Config{}, meta.NetConfig{}, meta.WebConfig{}, pool.Config{}, codecjson.Config{}, auth.Basic{}, auth.JWT{}, auth.Key{}, auth.SessionConfig{}, redissessions.Config{},
	auth.TokenKey{}, lease.Config{}, mcp.Config{}, cluster.Etcd{}, zookeeper.Registry{}, nacos.Registry{}, cluster.Consul{}, micro.Etcd{}, micro.Consul{}, micronats.Registry{}, micronats.Broker{}, dashboard.Config{}, web.Config{}, web.ClientConfig{}, webhook.Endpoint{}, webhook.Receiver{},
}

// canary is a secret, in a URL too.
const canary = "hunter2-hunter2-hunter2-hunter2-hunter2"

// canaryForms are the ways in which fmt and JSON write it.
var canaryForms = []string{"hunter2", "68756e74657232", "0x68, 0x75", "104 117 110 116", "aHVudGVyMi1"}

// secretFields are the names of fields that hold secrets.
var secretFields = regexp.MustCompile(`(Secret|Secrets|Key|Keys|Password|Token|URL)$`)

// fill puts the canary into what holds secrets of a configuration, and returns how many places that were.
func fill(v reflect.Value) (places int) {
	for i := range v.NumField() {
		field, at := v.Type().Field(i), v.Field(i)
		if !field.IsExported() || at.Kind() == reflect.Func || !secretFields.MatchString(field.Name) || field.Name == "NodeKeys" { // which are public
			continue
		}
		places++
		at.Set(valueOf(at.Type()))
	}
	return places
}

// valueOf makes a value of the type of a field that holds secrets.
func valueOf(t reflect.Type) reflect.Value {
	switch {
	case t.Kind() == reflect.String:
		return reflect.ValueOf("redis://user:" + canary + "@host:6379")
	case t == reflect.TypeFor[cluster.Option]():
		return reflect.ValueOf(cluster.Config{Key: secret.New(canary)})
	case t == reflect.TypeFor[secret.Secret]():
		return reflect.ValueOf(secret.New(canary))
	case t == reflect.TypeFor[*httpaccess.Keys]():
		return reflect.ValueOf(httpaccess.NewKeys(canary))
	case t.Kind() == reflect.Interface, t == reflect.TypeFor[[]byte]():
		return reflect.ValueOf([]byte(canary))
	case t.Kind() == reflect.Slice:
		return reflect.Append(reflect.MakeSlice(t, 0, 1), valueOf(t.Elem()))
	case t.Kind() == reflect.Map:
		m := reflect.MakeMap(t)
		m.SetMapIndex(reflect.ValueOf(canary), reflect.Zero(t.Elem()))
		return m
	case t.Kind() == reflect.Struct:
		v := reflect.New(t).Elem()
		fill(v)
		return v
	}
	panic("a field with a secret has the type " + t.String())
}

func TestNoConfigShowsASecret(t *testing.T) {
	places := 0
	for _, empty := range configs {
		v := reflect.New(reflect.TypeOf(empty))
		places += fill(v.Elem())
		config := v.Elem().Interface()
		around := struct{ Config any }{config}
		var shown bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
			fmt.Fprintf(&shown, verb+"\n"+verb+"\n"+verb+"\n", config, v.Interface(), around)
		}
		for _, log := range []*slog.Logger{slog.New(slog.NewTextHandler(&shown, nil)), slog.New(slog.NewJSONHandler(&shown, nil))} {
			log.Info("x", "config", config, "around", around)
		}
		text, err := json.Marshal(config)
		if err != nil { // it has functions
			shown.WriteString(err.Error())
		}
		shown.Write(text)
		for _, form := range canaryForms {
			if strings.Contains(shown.String(), form) {
				t.Errorf("%T shows its secret as %s:\n%s", config, form, &shown)
			}
		}
	}
	if places < 10 {
		t.Errorf("only %d fields with secrets were found", places)
	}
}

func TestNoAuthenticatorShowsItsSecret(t *testing.T) {
	long := []byte(canary)
	for _, a := range []auth.Authenticator{
		&auth.JWT{Secret: long, Keys: []auth.TokenKey{{ID: "a", Key: long}}},
		auth.Session(auth.SessionConfig{Secret: long, PreviousSecrets: [][]byte{long}}),
		&auth.Key{Keys: map[string]auth.Principal{canary: {Subject: "ada"}}},
	} {
		shown := fmt.Sprintf("%v %+v %#v", a, a, struct{ hidden auth.Authenticator }{a})
		for _, form := range canaryForms {
			if strings.Contains(shown, form) {
				t.Errorf("%s shows its secret as %s: %s", a.Name(), form, shown)
			}
		}
	}
}

func TestEveryConfigIsAmongThoseThatShowNoSecret(t *testing.T) {
	known := map[string]bool{}
	for _, c := range configs {
		known[reflect.TypeOf(c).String()] = true
	}
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "internal" || entry.Name() == "lab" || entry.Name() == "examples" || entry.Name() == "cmd" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE {
				continue
			}
			for _, s := range types.Specs {
				spec := s.(*ast.TypeSpec)
				if _, ok := spec.Type.(*ast.StructType); !ok || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Config") {
					continue
				}
				found++
				if name := file.Name.Name + "." + spec.Name.Name; !known[name] {
					t.Errorf("%s: %s is a new configuration: add it to configs", path, name)
				}
			}
		}
		return nil
	})
	if err != nil || found < 10 {
		t.Errorf("%d configurations, %v", found, err)
	}
}
