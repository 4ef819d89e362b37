package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestTheTwoCommandsAreOneShop(t *testing.T) {
	brokers.Long(t)
	dir := t.TempDir()
	java, javac := brokers.Program(t, "java", "default-jdk-headless"), brokers.Program(t, "javac", "default-jdk-headless")
	path := brokers.Jars(t, brokers.DubboJars)
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "orders"), ".")
	sources, err := filepath.Glob("java/src/main/java/com/shop/*.java")
	if err != nil {
		t.Fatal(err)
	}
	compile := exec.Command(javac, append([]string{"-nowarn", "--release", "11", "-cp", path, "-d", dir}, sources...)...)
	for _, command := range []*exec.Cmd{build, compile} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	orders, stock := freeAddress(t), freeAddress(t)
	brokers.Run(t, exec.Command(filepath.Join(dir, "orders"), "-at", "dubbo://"+orders, "-stock", "dubbo://"+stock))
	shop := exec.Command(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djdk.net.hosts.file="+absolute(t, "java/hosts"),
		"-cp", path+string(os.PathListSeparator)+dir, "com.shop.Shop", port(t, orders), port(t, stock))
	shop.Dir, shop.Env = dir, append(os.Environ(), "HOME="+dir)
	lines := brokers.Run(t, shop)
	for _, want := range []string{"started", "3 of tea, 7 left", "refused: not enough tea"} {
		got, err := lines.ReadString('\n')
		if got = strings.TrimSpace(got); err != nil || got != want {
			t.Fatalf("the shop says %q, %v, want %q", got, err, want)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}
