package integration

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

// grpcJava are the libraries of a client of grpc-java 1.78.0, by their paths at Maven Central, with their SHA-256.
var grpcJava = map[string]string{
	"io/grpc/grpc-netty-shaded/1.78.0/grpc-netty-shaded-1.78.0.jar":                               "54e6f89a07cf227f1e249808e49240997e75bc2509d0257e065ab42db29f1266",
	"io/grpc/grpc-core/1.78.0/grpc-core-1.78.0.jar":                                               "688b5c0dd65061e0f60d763aa7eeaf94f58881f77b311b64fcc4e7c70afae49f",
	"io/grpc/grpc-api/1.78.0/grpc-api-1.78.0.jar":                                                 "0d8f81d9e89d29e62138b3df8f3d91844537b6b950339b3cb08072811dd7f8a2",
	"io/grpc/grpc-util/1.78.0/grpc-util-1.78.0.jar":                                               "1a5d48a3f97705cfa7001ba9606d96d4e0e0e29f10ed74a21a5346c26e49be15",
	"io/grpc/grpc-stub/1.78.0/grpc-stub-1.78.0.jar":                                               "a59bc67a90e1909206a7d2a41dfaa647acb81461d11386917e7fa58a28728510",
	"io/grpc/grpc-protobuf/1.78.0/grpc-protobuf-1.78.0.jar":                                       "328dc4efa881d31e0d086ca7eb44a4efb918bc21fc7da78d7571f034259d6bda",
	"io/grpc/grpc-protobuf-lite/1.78.0/grpc-protobuf-lite-1.78.0.jar":                             "34b348876bc40440d05f7df8274a8ff3ec01433366e1d73b5de60d494a813653",
	"com/google/protobuf/protobuf-java/3.25.8/protobuf-java-3.25.8.jar":                           "72bdb32eb38cafb7dcd288262c29a34d57cba2e19101af9685155ba8c0a56008",
	"com/google/api/grpc/proto-google-common-protos/2.63.1/proto-google-common-protos-2.63.1.jar": "352ffc769f4d17e2d6227b6893ec368f4f07fbb069dd7aaa644b16949369f8b7",
	"com/google/guava/guava/33.5.0-android/guava-33.5.0-android.jar":                              "e380b435404653753e894be80ee6fdd5252d55b07f663d8a004b4e5898ecfaa0",
	"com/google/guava/failureaccess/1.0.3/failureaccess-1.0.3.jar":                                "cbfc3906b19b8f55dd7cfd6dfe0aa4532e834250d7f080bd8d211a3e246b59cb",
	"io/perfmark/perfmark-api/0.27.0/perfmark-api-0.27.0.jar":                                     "c7b478503ec524e55df19b424d46d27c8a68aeb801664fadd4f069b71f52d0f6",
	"com/google/code/gson/gson/2.12.1/gson-2.12.1.jar":                                            "ebee13d5fb7477cd7f1cc010e0c356df8ca80709715248da97f79e35ccb4fbec",
}

// The compiler of Protocol Buffers and its plugin for grpc-java, which are programs.
var (
	protoc         = map[string]string{"com/google/protobuf/protoc/3.25.8/protoc-3.25.8-linux-x86_64.exe": "e34121274da8409bc86c093b868e05df198cbe1f5017202a560866390ae3d6ec"}
	protocGRPCJava = map[string]string{"io/grpc/protoc-gen-grpc-java/1.78.0/protoc-gen-grpc-java-1.78.0-linux-x86_64.exe": "c02dd4d757b6794072a1675c2a9f232631b64c3d53c1ec19effb0504859a82ff"}
)

// program is a copy of a program of Maven Central that can be run.
func program(t *testing.T, at map[string]string, dir string) string {
	t.Helper()
	file := brokers.Jars(t, at)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(name, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// The stubs are made of the file that `sabir gen proto` writes.
func TestAClientOfJavaCallsPackageRPC(t *testing.T) {
	brokers.Slow(t)
	java, javac := brokers.Program(t, "java", "default-jdk-headless"), brokers.Program(t, "javac", "default-jdk-headless")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		brokers.NotTested(t, "the programs that generate stubs for Java are those of Linux on amd64")
	}
	_, node := dialCounter(t, counter(nil, nil))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "counter.proto"), []byte(protoOf(t, node, "counter")), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(command string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(command), err, out)
		}
		return string(out)
	}
	run(program(t, protoc, dir), "--plugin=protoc-gen-grpc-java="+program(t, protocGRPCJava, dir), "--java_out=.", "--grpc-java_out=.", "counter.proto")
	client, err := filepath.Abs("testdata/rpc-java/Client.java")
	if err != nil {
		t.Fatal(err)
	}
	path := brokers.Jars(t, grpcJava) + string(os.PathListSeparator) + dir
	run(javac, "-encoding", "UTF-8", "-nowarn", "-cp", path, "-sourcepath", dir, "-d", dir, client)
	host, port, err := net.SplitHostPort(node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	out := run(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp", path, "Client", host, port)
	if !strings.HasSuffix(out, "grpc-java\n") {
		t.Error(out)
	}
}
