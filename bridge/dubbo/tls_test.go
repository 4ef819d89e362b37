package dubbo_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport/tcp"
)

// certified is a certificate for all of this machine's names, with which both sides prove who they are.
func certified(t *testing.T) (files transporttest.Files, config *tls.Config) {
	t.Helper()
	files = transporttest.NewAuthority(t, "shop").Issue(t, t.TempDir(), "127.0.0.1", "localhost", javaHost)
	config = files.Client(t)
	config.ClientCAs, config.ClientAuth = config.RootCAs, tls.RequireAndVerifyClientCert
	return files, config
}

func TestBothSidesProveWhoTheyAreByCertificates(t *testing.T) {
	_, config := certified(t)
	_, stranger := certified(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		address := freeAddress(t)
		start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{TLS: config, Serve: map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}}}))
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		node := startAs(t, "caller", dubbo.Bridge(dubbo.Config{TLS: config, References: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "shop", Version: "1.0.0", Methods: []dubbo.Method{{Name: "later", Parameters: []string{"java.lang.String"}}}}}}}))
		if got, err := sabir.Call[string](ctx, node, "shop.later", "soon"); err != nil || got != "sooner" {
			t.Errorf("%s: %q, %v", scheme, got, err)
		}
		for name, with := range map[string]*tls.Config{
			"another authority": {RootCAs: config.RootCAs, Certificates: stranger.Certificates, NextProtos: []string{"h2"}},
			"no certificate":    {RootCAs: config.RootCAs, NextProtos: []string{"h2"}},
		} {
			with.ServerName = "127.0.0.1"
			raw, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			c := tls.Client(raw, with)
			c.SetDeadline(time.Now().Add(waitLimit))
			if err := c.Handshake(); err == nil { // TLS 1.3 refuses after it
				_, err = c.Read(make([]byte, 1))
			}
			if _, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "tls: ") {
				t.Errorf("%s, %s: %v", scheme, name, err)
			}
			raw.Close()
		}
		plain := dial(t, address)
		plain.write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		if text, err := io.ReadAll(plain.reader); strings.Contains(string(text), "HTTP") {
			t.Errorf("%s without TLS: %q, %v", scheme, text, err)
		}
	}
}

// A provider that is no longer what its certificate says is not called.
func TestAProviderWithoutTheCertificateOfItsNameIsNotCalled(t *testing.T) {
	_, config := certified(t)
	_, stranger := certified(t)
	stranger.ClientAuth = tls.NoClientCert
	for _, scheme := range []string{"dubbo", "tri"} {
		for name, options := range map[string]dubbo.Config{"of another authority": {TLS: stranger}, "that speaks no TLS": {}} {
			address := freeAddress(t)
			start(t, sabir.Serve(orders(nil)), dubbo.Bridge(serveAt(options, map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}})))
			node := startAs(t, "caller", dubbo.Bridge(dubbo.Config{TLS: config, References: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "shop", Version: "1.0.0", Methods: []dubbo.Method{{Name: "later", Parameters: []string{"java.lang.String"}}}}}}}))
			if got, err := sabir.Call[string](t.Context(), node, "shop.later", "soon"); err == nil {
				t.Errorf("%s, a provider %s: %q", scheme, name, got)
			}
		}
	}
}

func TestOnlyCertificatesOfConsumersStandForOpen(t *testing.T) {
	_, mutual := certified(t)
	oneSided := mutual.Clone()
	oneSided.ClientAuth = tls.VerifyClientCertIfGiven
	for name, c := range map[string]struct {
		options dubbo.Config
		refused string
	}{
		"nothing":                              {dubbo.Config{}, "refusing to listen"},
		"a certificate of the provider only":   {dubbo.Config{TLS: oneSided}, "refusing to listen"},
		"a configuration without certificates": {dubbo.Config{TLS: &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}}, "it needs a certificate"},
		"certificates of both":                 {dubbo.Config{TLS: mutual}, ""},
	} {
		node := sabir.NewNode(sabir.Serve(orders(nil)), dubbo.Bridge(serveAt(c.options, map[string][]dubbo.Interface{"tri://0.0.0.0:0": {mapping()}})))
		err := node.Start(t.Context())
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			stop(t, node)
		}
	}
}

func TestJSONIsAnsweredOverHTTPS(t *testing.T) {
	files, config := certified(t)
	served, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{TLS: served, Serve: map[string][]dubbo.Interface{"tri://" + address: {mapping()}, "dubbo://" + address: {mapping()}}}))
	for _, http2 := range []bool{false, true} {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(!http2)
		protocols.SetHTTP2(http2)
		transport := &http.Transport{TLSClientConfig: config, Protocols: protocols}
		response, err := (&http.Client{Transport: transport}).Post("https://"+address+"/com.shop.OrderService/add", "application/json", strings.NewReader("[2, 40]"))
		if err != nil {
			t.Errorf("HTTP/2 %v: %v", http2, err)
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		transport.CloseIdleConnections()
		if string(text) != "42" || err != nil || (response.ProtoMajor == 2) != http2 {
			t.Errorf("HTTP/2 %v: %s %q, %v", http2, response.Proto, text, err)
		}
	}
}

func TestJavaAndANodeCallEachOtherWithCertificates(t *testing.T) {
	brokers.Long(t)
	files, config := certified(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme, func(t *testing.T) {
			address := freeAddress(t)
			start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{TLS: config, Serve: map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}}}))
			got := run(t, "SecureShop", files.Cert, files.Key, files.CA, scheme+"://"+asJava(address)).until("end")
			if got["ping"] != "pong" || got["add"] != "42" {
				t.Errorf("Java has %q", got)
			}
			_, port, _ := net.SplitHostPort(freeAddress(t))
			run(t, "SecureShop", files.Cert, files.Key, files.CA, scheme, port).until("ready")
			node := startAs(t, "caller", dubbo.Bridge(dubbo.Config{TLS: config, References: map[string][]dubbo.Interface{scheme + "://127.0.0.1:" + port: {typed()}}}))
			eventually(t, "an answer of Java", func() bool { // on a busy machine its first handshake takes longer than the node waits for
				got, err := sabir.Call[string](t.Context(), node, "orders.later", "soon")
				return err == nil && got == "sooner"
			})
		})
	}
}

func TestJavaConsumersFindANodeWithTLSByZooKeeper(t *testing.T) {
	brokers.Slow(t)
	files, config := certified(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme, func(t *testing.T) {
			server := brokers.ForTest(t, brokers.ZooKeeper)
			address := freeAddress(t)
			startAs(t, "go", sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{Registries: at(server), TLS: config, Application: "go-shop", Advertise: asJava(address),
				Serve: map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}}}))
			consumers := make(map[string]*process)
			for _, migration := range []string{"FORCE_INTERFACE", "FORCE_APPLICATION"} {
				consumers[migration] = run(t, "SecureShop", files.Cert, files.Key, files.CA, server.URL(), "by", migration)
			}
			for migration, consumer := range consumers {
				if got := consumer.until("end"); got["add"] != "42" {
					t.Errorf("%s: %v", migration, got)
				}
			}
		})
	}
}
