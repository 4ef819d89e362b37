package nacos

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/bridge/dubbo"
)

// maxInstances bounds the instances of one service that are read.
const maxInstances = 1000

// session implements dubbo.RegistrySession.
type session struct {
	*connection
	namespace, group string

	entering sync.Mutex            // one entry at a time is written
	entered  map[string][]instance // by services; guarded by entering

	mu       sync.Mutex
	services map[string]*service      // that are looked at
	configs  map[config]chan struct{} // closed when they change
}

// service is a list of instances as the server has told it last.
type service struct {
	asked   bool
	told    int64 // the server's time of the list
	hosts   []instance
	changed chan struct{}
}

type instance struct {
	IP        string            `json:"ip"`
	Port      int               `json:"port"`
	Weight    float64           `json:"weight"`
	Healthy   bool              `json:"healthy"`
	Enabled   bool              `json:"enabled"`
	Ephemeral bool              `json:"ephemeral"`
	Cluster   string            `json:"clusterName"`
	Metadata  map[string]string `json:"metadata"`
}

// serviceInfo is a list of instances.
type serviceInfo struct {
	Name  string     `json:"name"`
	Group string     `json:"groupName"`
	Time  int64      `json:"lastRefTime"`
	Hosts []instance `json:"hosts"`
}

// naming begins each request about services.
type naming struct {
	Namespace string `json:"namespace"`
	Service   string `json:"serviceName"`
	Group     string `json:"groupName"`
	Module    string `json:"module"`
}

func newSession(c *connection, r *Registry) *session {
	return &session{connection: c, namespace: r.Namespace, group: cmp.Or(r.Group, "DEFAULT_GROUP"), entered: make(map[string][]instance), services: make(map[string]*service), configs: make(map[config]chan struct{})}
}

func (s *session) naming(name string) naming {
	return naming{cmp.Or(s.namespace, "public"), name, s.group, "naming"}
}

// withoutDollar is a name as Dubbo gives it to Nacos, which has no dollar signs in names: those of classes within classes have some.
func withoutDollar(name string) string { return strings.ReplaceAll(name, "$", "___") }

// providersOf is the name of the service of an interface.
func providersOf(iface, version, group string) string {
	if version == "0.0.0" {
		version = ""
	}
	return withoutDollar("providers:" + iface + ":" + version + ":" + group)
}

// Provide implements dubbo.RegistrySession.
func (s *session) Provide(ctx context.Context, iface, text string) error {
	i, err := instanceOf(text)
	if err != nil {
		return err
	}
	return s.enter(ctx, providersOf(iface, i.Metadata["version"], i.Metadata["group"]), i)
}

// instanceOf is the instance that stands for the URL of a provider.
func instanceOf(text string) (i instance, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return i, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return i, err
	}
	params := map[string]string{"category": "providers", "protocol": u.Scheme, "path": strings.TrimPrefix(u.Path, "/")}
	query := u.Query()
	for name := range query {
		params[name] = query.Get(name)
	}
	return instance{IP: u.Hostname(), Port: port, Metadata: params}, nil
}

// ProvideInstance implements dubbo.RegistrySession.
func (s *session) ProvideInstance(ctx context.Context, i dubbo.Instance) error {
	return s.enter(ctx, withoutDollar(i.Application), instance{IP: i.Host, Port: i.Port, Metadata: i.Metadata})
}

// enter makes an instance that ends with the session. Nacos keeps one of a service for each connection, or a list that is replaced as a whole.
func (s *session) enter(ctx context.Context, name string, i instance) error {
	i.Weight, i.Healthy, i.Enabled, i.Ephemeral, i.Cluster = 1, true, true, true, "DEFAULT"
	s.entering.Lock()
	defer s.entering.Unlock()
	all := slices.DeleteFunc(slices.Clone(s.entered[name]), func(has instance) bool { return has.IP == i.IP && has.Port == i.Port })
	all = append(all, i)
	s.entered[name] = all // an attempt that has failed may have been heard
	if len(all) == 1 {
		return s.ask(ctx, "InstanceRequest", struct {
			naming
			Type     string   `json:"type"`
			Instance instance `json:"instance"`
		}{s.naming(name), "registerInstance", i}, nil)
	}
	return s.ask(ctx, "BatchInstanceRequest", struct {
		naming
		Type      string     `json:"type"`
		Instances []instance `json:"instances"`
	}{s.naming(name), "batchRegisterInstance", all}, nil)
}

// leave removes what was entered.
func (s *session) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, goodbyeTimeout)
	defer cancel()
	s.entering.Lock()
	defer s.entering.Unlock()
	for name, all := range s.entered {
		err := s.ask(ctx, "InstanceRequest", struct {
			naming
			Type     string   `json:"type"`
			Instance instance `json:"instance"`
		}{s.naming(name), "deregisterInstance", all[0]}, nil)
		if err != nil {
			s.log.Warn("what was entered in Nacos was not removed: it ends with the connection", "service", name, "error", err)
			return
		}
	}
}

// tell takes what the server tells.
func (s *session) tell(kind string, text []byte) {
	switch kind {
	case "NotifySubscriberRequest":
		var news struct {
			Service serviceInfo `json:"serviceInfo"`
		}
		if err := json.Unmarshal(text, &news); err != nil {
			s.log.Warn("news of Nacos cannot be read", "error", err)
			return
		}
		s.take(nameOf(news.Service), news.Service)
	case "ConfigChangeNotifyRequest":
		var changed config
		if json.Unmarshal(text, &changed) == nil {
			s.wake(changed)
		}
	}
}

// nameOf is the name of a service, before which some servers put its group.
func nameOf(i serviceInfo) string {
	if _, name, ok := strings.Cut(i.Name, "@@"); ok {
		return name
	}
	return i.Name
}

// take keeps a list, unless it is older than the one that is known: answers and news come by different ways.
func (s *session) take(name string, i serviceInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.services[name]
	if of == nil || i.Time < of.told {
		return
	}
	of.told, of.hosts = i.Time, i.Hosts
	close(of.changed)
	of.changed = make(chan struct{})
}

// watchService returns the instances of a service that get calls.
func (s *session) watchService(ctx context.Context, name string) ([]instance, <-chan struct{}, error) {
	s.mu.Lock()
	of := s.services[name]
	if of == nil {
		of = &service{changed: make(chan struct{})}
		s.services[name] = of
	}
	asked := of.asked
	s.mu.Unlock()
	if !asked {
		var answer struct {
			Service serviceInfo `json:"serviceInfo"`
		}
		err := s.ask(ctx, "SubscribeServiceRequest", struct {
			naming
			Subscribe bool   `json:"subscribe"`
			Clusters  string `json:"clusters"`
		}{s.naming(name), true, ""}, &answer)
		if err != nil {
			return nil, nil, err
		}
		s.take(name, answer.Service)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of.asked = true
	var list []instance
	for _, i := range of.hosts {
		if i.Enabled && i.Healthy && len(list) < maxInstances {
			list = append(list, i)
		}
	}
	return list, of.changed, nil
}

// Providers implements dubbo.RegistrySession.
func (s *session) Providers(ctx context.Context, iface, version, group string) ([]string, <-chan struct{}, error) {
	list, changed, err := s.watchService(ctx, providersOf(iface, version, group))
	if err != nil {
		return nil, nil, err
	}
	urls := make([]string, 0, len(list))
	for _, i := range list {
		urls = append(urls, i.url())
	}
	return urls, changed, nil
}

// url is the URL of a provider.
func (i *instance) url() string {
	query := make(url.Values, len(i.Metadata))
	for name, value := range i.Metadata {
		query.Set(name, value)
	}
	u := url.URL{Scheme: i.Metadata["protocol"], Host: net.JoinHostPort(i.IP, strconv.Itoa(i.Port)), Path: "/" + i.Metadata["path"], RawQuery: query.Encode()}
	return u.String()
}

// Instances implements dubbo.RegistrySession.
func (s *session) Instances(ctx context.Context, application string) ([]dubbo.Instance, <-chan struct{}, error) {
	list, changed, err := s.watchService(ctx, withoutDollar(application))
	if err != nil {
		return nil, nil, err
	}
	var instances []dubbo.Instance
	for _, i := range list {
		if i.IP != "" && i.Port > 0 && i.Port <= 0xffff {
			instances = append(instances, dubbo.Instance{Application: application, Host: i.IP, Port: i.Port, Metadata: i.Metadata})
		}
	}
	return instances, changed, nil
}
