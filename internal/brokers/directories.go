package brokers

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func startEtcd(s *Server) error {
	peers, err := s.otherPort("peers")
	if err != nil {
		return err
	}
	self := "http://" + atPort(peers)
	own := s.endpoint()
	arguments := []string{"--name", "one", "--data-dir", s.file("data"), "--listen-client-urls", own, "--advertise-client-urls", own,
		"--listen-peer-urls", self, "--initial-advertise-peer-urls", self, "--initial-cluster", "one=" + self, "--logger", "zap", "--log-level", "warn"}
	if c := s.config; c.secure() {
		arguments = append(arguments, "--cert-file", c.Cert, "--key-file", c.Key)
		if c.CA != "" {
			arguments = append(arguments, "--client-cert-auth", "--trusted-ca-file", c.CA)
		}
	}
	s.main, err = launch(s.command(s.program, arguments...), s.Log())
	return err
}

func (s *Server) endpoint() string {
	scheme := s.recipe.scheme
	if s.config.secure() {
		scheme = s.recipe.secure
	}
	return scheme + "://" + s.Addr()
}

func etcdAnswers(s *Server) error { return s.get("/health", `"health":"true"`) }

func startConsul(s *Server) error {
	ports := map[string]int{"http": s.port, "dns": -1, "grpc": -1}
	for _, use := range []string{"server", "serf_lan", "serf_wan"} {
		port, err := s.otherPort(use)
		if err != nil {
			return err
		}
		ports[use] = port
	}
	settings := map[string]any{"server": true, "bootstrap_expect": 1, "data_dir": s.file("data"), "node_name": "one", "bind_addr": "127.0.0.1", "client_addr": "127.0.0.1",
		"ports": ports, "log_level": "warn", "disable_update_check": true, "leave_on_terminate": false, "performance": map[string]any{"raft_multiplier": 1}}
	if token := s.config.Password; token != "" {
		settings["acl"] = map[string]any{"enabled": true, "default_policy": "deny", "tokens": map[string]any{"master": token, "agent": token}}
		settings["primary_datacenter"] = "dc1"
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	path, err := s.write("consul.json", string(text))
	if err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, "agent", "-config-file", path), s.Log())
	return err
}

func consulAnswers(s *Server) error {
	if err := s.get("/v1/status/leader", ":"); err != nil || s.config.Password == "" {
		return err
	}
	return s.get("/v1/catalog/nodes", `"Node":"one"`) // when the token is known
}

// get asks a server over HTTP and wants a text in its answer.
func (s *Server) get(path, want string) error {
	config := &tls.Config{InsecureSkipVerify: true} // no answer is trusted, and the token is the test's
	if c := s.config; c.secure() {
		own, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{own}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint()+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-Consul-Token", s.config.Password)
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(string(text), want) {
		err = fmt.Errorf("%s answers %d %s", path, answer.StatusCode, text)
	}
	return err
}
