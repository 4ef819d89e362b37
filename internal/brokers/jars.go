package brokers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Jars returns a class path of libraries of Java, which are given by their paths at Maven Central with their SHA-256 and are kept in the user's cache.
// The test is left out where Maven Central cannot be reached.
func Jars(t testing.TB, jars map[string]string) string {
	t.Helper()
	path, err := classPath(jars)
	if err != nil {
		NotTested(t, "against Java: Maven Central cannot be reached: %v", err)
	}
	return path
}

// classPath fetches jars that are not in the user's cache.
func classPath(jars map[string]string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "sabir-test-jars")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	var path []string
	for _, jar := range slices.Sorted(maps.Keys(jars)) {
		file := filepath.Join(cache, filepath.Base(jar))
		if err := ensureJar(file, jar, jars[jar]); err != nil {
			return "", err
		}
		path = append(path, file)
	}
	return strings.Join(path, string(os.PathListSeparator)), nil
}

// ensureJar fetches a jar unless it is there with the right sum.
func ensureJar(file, jar, sum string) error {
	data, err := os.ReadFile(file)
	if err == nil && sumOf(data) == sum {
		return nil
	}
	// Its connection ends with the download: tests look for goroutines that stay.
	client := http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	reply, err := client.Get("https://repo1.maven.org/maven2/" + jar)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if data, err = io.ReadAll(io.LimitReader(reply.Body, 80<<20)); err != nil {
		return err
	}
	if got := sumOf(data); got != sum {
		return fmt.Errorf("%s has the SHA-256 %s (status %s), want %s", jar, got, reply.Status, sum)
	}
	own := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(own, data, 0o600); err != nil {
		return err
	}
	return os.Rename(own, file)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
