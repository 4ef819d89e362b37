package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/web"
)

const (
	conformanceVersion = "v1.0.7"
	// conformanceVariable makes this program the server of the suite. Its value is the folder of the suite's .proto files.
	conformanceVariable = "SABIR_RPC_CONFORMANCE"
)

// Connect's own suite calls a node in each protocol, over HTTP/1.1 and HTTP/2, with and without TLS.
func TestPackageRPCPassesTheConformanceSuiteOfConnect(t *testing.T) {
	brokers.Slow(t)
	program := installed(t, "connectrpc.com/conformance/cmd/connectconformance@"+conformanceVersion, t.TempDir())
	module, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "connectrpc.com/conformance@"+conformanceVersion).Output()
	if err != nil {
		t.Fatal(err)
	}
	var source struct{ Dir string }
	if err := json.Unmarshal(module, &source); err != nil {
		t.Fatal(err)
	}
	suite := func(args ...string) (failed []string, out []byte) {
		args = append([]string{"--mode", "server", "--conf", "testdata/rpc-conformance/config.yaml", "--parallel", "16"}, args...)
		run := exec.CommandContext(t.Context(), program, append(args, "--", os.Args[0])...)
		run.Env = append(os.Environ(), conformanceVariable+"="+filepath.Join(source.Dir, "proto"))
		out, err := run.CombinedOutput()
		for _, found := range regexp.MustCompile(`(?m)^FAILED: (.*):$`).FindAllSubmatch(out, -1) {
			failed = append(failed, string(found[1]))
		}
		if summary := regexp.MustCompile(`(?s)Total cases: .*`).Find(out); summary == nil || (err != nil) != (len(failed) > 0) {
			t.Fatalf("%v\n%s", err, out)
		} else {
			t.Logf("%s", summary)
		}
		return failed, out
	}
	failed, out := suite()
	var again []string
	for _, name := range failed {
		if !regexp.MustCompile(`^(Timeouts|Deadline Propagation|Server Message Size)/`).MatchString(name) {
			t.Fatalf("%s", out)
		}
		again = append(again, "--run", name) // it gives an answer half a second: again, alone, lest it be the machine that was slow
	}
	if again == nil {
		return
	}
	if failed, out := suite(append(again, "--parallel", "1")...); failed != nil {
		t.Errorf("%s", out)
	}
}

// serveConformance is the program that the suite starts for each kind of server: it reads what kind, writes where it is, and serves until
// it is ended.
func serveConformance(protos string) error {
	if err := registerConformance(protos); err != nil {
		return err
	}
	var ask struct {
		Protocol, HTTPVersion int32
		TLS                   bool   `protobuf:"4"`
		ClientCertificate     []byte `protobuf:"5"`
		Limit                 uint32 `protobuf:"6"`
		Credentials           struct{ Certificate, Key []byte }
	}
	if err := readDelimited(os.Stdin, &ask); err != nil {
		return err
	}
	options := []gateway.HTTPOption{rpc.Serve(), web.With(web.Config{RequestTimeout: ownTimeout})}
	if ask.Limit > 0 {
		options = append(options, web.With(web.Config{BodyLimit: int64(ask.Limit)}))
	}
	if ask.TLS {
		certificate, err := tls.X509KeyPair(ask.Credentials.Certificate, ask.Credentials.Key)
		if err != nil {
			return err
		}
		config := &tls.Config{Certificates: []tls.Certificate{certificate}}
		if len(ask.ClientCertificate) > 0 {
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
			if !config.ClientCAs.AppendCertsFromPEM(ask.ClientCertificate) {
				return errors.New("the certificate of clients is none")
			}
		}
		options = append(options, gateway.TLS(config))
	}
	node := sabir.NewNode(sabir.Serve(conformanceService()), sabir.HTTP("127.0.0.1:0", options...), sabir.Logger(slog.New(slog.DiscardHandler)))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := node.Start(ctx); err != nil {
		return err
	}
	at := netip.MustParseAddrPort(node.HTTPAddr())
	answer, err := protobuf.Codec.Append(nil, &struct {
		Host        string
		Port        uint32
		Certificate []byte
	}{at.Addr().String(), uint32(at.Port()), ask.Credentials.Certificate})
	if err != nil {
		return err
	}
	if _, err := os.Stdout.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...)); err != nil {
		return err
	}
	<-ctx.Done()
	return node.Stop(context.Background())
}

func readDelimited(from io.Reader, into any) error {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return err
	}
	data := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(from, data); err != nil {
		return err
	}
	return protobuf.Codec.Decode(data, into)
}

// registerConformance makes the suite's messages known by name, as generated code would: JSON needs that for those in an Any.
func registerConformance(protos string) error {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{protos}})}
	files, err := compiler.Compile(context.Background(), "connectrpc/conformance/v1/config.proto", "connectrpc/conformance/v1/service.proto")
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := protoregistry.GlobalFiles.RegisterFile(file); err != nil {
			return err
		}
		for i := range file.Messages().Len() {
			if err := protoregistry.GlobalTypes.RegisterMessage(dynamicpb.NewMessageType(file.Messages().Get(i))); err != nil {
				return fmt.Errorf("%s: %w", file.Messages().Get(i).FullName(), err)
			}
		}
	}
	conformanceCodes = dynamicpb.NewEnumType(files[0].Enums().ByName("Code"))
	return nil
}
