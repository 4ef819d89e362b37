package nacos

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
)

// Dubbo keeps in configurations of Nacos what stays when an instance has gone.

// mappingGroup has the configurations that say which applications provide an interface.
const mappingGroup = "mapping"

// config names a configuration.
type config struct {
	ID     string `json:"dataId"`
	Group  string `json:"group"`
	Tenant string `json:"tenant"`
}

func (s *session) config(id, group string) config {
	return config{withoutDollar(id), group, s.namespace}
}

// read returns the text of a configuration, "" for none.
func (s *session) read(ctx context.Context, of config) (text string, err error) {
	var answer struct {
		Content string `json:"content"`
	}
	err = s.ask(ctx, "ConfigQueryRequest", of.request(), &answer)
	var refused *refusal
	if errors.As(err, &refused) && refused.ErrorCode == notFound {
		return "", nil
	}
	return answer.Content, err
}

// configRequest begins each request about a configuration.
type configRequest struct {
	config
	Module string `json:"module"`
}

func (c config) request() configRequest { return configRequest{c, "config"} }

// write publishes a configuration. Where was is not nil, it is written only if its text is that.
func (s *session) write(ctx context.Context, of config, text string, was *string) error {
	sum := ""
	if was != nil {
		sum = sumOf(*was)
	}
	return s.ask(ctx, "ConfigPublishRequest", struct {
		configRequest
		Content string            `json:"content"`
		Sum     string            `json:"casMd5,omitempty"`
		More    map[string]string `json:"additionMap"`
	}{of.request(), text, sum, map[string]string{}}, nil)
}

// sumOf is the sum by which Nacos tells texts apart; "0" stands for none.
func sumOf(text string) string {
	if text == "" {
		return "0"
	}
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// MapInterface implements dubbo.RegistrySession.
func (s *session) MapInterface(ctx context.Context, iface, application string) error {
	of := s.config(iface, mappingGroup)
	for attempt := 1; ; attempt++ {
		text, err := s.read(ctx, of)
		if err != nil {
			return err
		}
		names := split(text)
		if slices.Contains(names, application) {
			return nil
		}
		err = s.write(ctx, of, strings.Join(append(names, application), ","), &text)
		var refused *refusal
		if attempt == 10 || !errors.As(err, &refused) || refused.ErrorCode == noRight { // another may have written meanwhile
			return err
		}
		// What was written last is read some time later.
		if err := backoff.Sleep(ctx, time.Duration(attempt)*50*time.Millisecond); err != nil {
			return err
		}
	}
}

// split reads the names of a mapping.
func split(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && len(name) <= 255 {
			names = append(names, name)
		}
	}
	return names
}

// Applications implements dubbo.RegistrySession.
func (s *session) Applications(ctx context.Context, iface string) ([]string, <-chan struct{}, error) {
	of := s.config(iface, mappingGroup)
	s.mu.Lock()
	changed := s.configs[of] // one for all who wait: it stays where this call fails
	if changed == nil {
		changed = make(chan struct{})
		s.configs[of] = changed
	}
	s.mu.Unlock()
	text, err := s.read(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	sum := ""
	if text != "" {
		sum = sumOf(text)
	}
	type listening struct {
		config
		Sum string `json:"md5"`
	}
	var answer struct {
		Changed []config `json:"changedConfigs"`
	}
	err = s.ask(ctx, "ConfigBatchListenRequest", struct {
		configRequest
		Listen bool        `json:"listen"`
		All    []listening `json:"configListenContexts"`
	}{of.request(), true, []listening{{of, sum}}}, &answer)
	if err != nil {
		return nil, nil, fmt.Errorf("news of the mapping: %w", err)
	}
	if len(answer.Changed) > 0 { // since it was read
		s.wake(of)
	}
	return split(text), changed, nil
}

// wake tells those who wait for a change of a configuration.
func (s *session) wake(of config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for known, changed := range s.configs {
		if known.ID == of.ID && known.Group == of.Group {
			close(changed)
			delete(s.configs, known)
		}
	}
}

// PutMetadata implements dubbo.RegistrySession.
func (s *session) PutMetadata(ctx context.Context, application, revision string, text []byte) error {
	of := s.config(application, revision)
	if err := s.write(ctx, of, string(text), nil); err != nil {
		return err
	}
	// Nacos shows it some time later. Consumers who find an instance before would ask for what is not there.
	for range 40 {
		if now, err := s.read(ctx, of); err != nil || now == string(text) {
			return err
		}
		if err := backoff.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// Metadata implements dubbo.RegistrySession.
func (s *session) Metadata(ctx context.Context, application, revision string) ([]byte, error) {
	text, err := s.read(ctx, s.config(application, revision))
	if err == nil && text == "" {
		err = fmt.Errorf("Nacos has no configuration %s in the group %s", application, revision)
	}
	return []byte(text), err
}
