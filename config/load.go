// Package config lets operators decide what a node does: by flags, the environment, a file, and last what the code says.
//
//	c := config.LoadOrExit(config.Config{Args: os.Args[1:]})
//	node := sabir.NewNode(sabir.Serve(users), c.Option())
//
// [Settings] lists what there is. A setting http.address is the flag --http.address, the variable SABIR_HTTP_ADDRESS, and the entry
// address of the section http in a file of YAML, TOML or JSON. A secret, such as key, can be the name of a file instead: SABIR_KEY_FILE,
// --key_file, key_file; there is no flag for the secret itself, since all users of a machine see the flags of its processes. Names that
// do not exist are errors, with the nearest one that does.
//
// Settings of the program's own are a struct in [Config.App], under the same rules: the setting app.currency, SABIR_APP_CURRENCY.
//
// docs/config.md is the guide.
package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/validate"
)

// Config says where settings are read from.
type Config struct {
	// Defaults are the settings of the code, which all others go before.
	Defaults Settings
	// App is a pointer to a struct with settings of the program's own, or nil. Fields have json tags for their names, and may have
	// validate, default and doc tags. What the struct holds when Load is called are its defaults. A type with UnmarshalText is a
	// text, a struct without is a section, and the fields of an embedded one without a name are those of the outer one.
	App any
	// LogHandler wraps the handler of the log, which has the level and the format of the settings, and adds node, service, action, request_id
	// and trace_id to each line (it is a [telemetry.LogHandler]): to hide fields by telemetry.Redact, or to
	// keep lines for the dashboard by the LogHandler of its ring. Default: the handler as it is.
	LogHandler func(slog.Handler) slog.Handler
	// Telemetry has the code's wishes for the node's telemetry, such as Traces, to which admin.metrics adds Prometheus. With either the node counts
	// its calls (Metrics), and serves [telemetry.Telemetry.Stats] too.
	Telemetry telemetry.Config
	// SkipApp takes settings of a program's own without looking at them, as a tool that does not know the program does.
	SkipApp bool
	// Args are the flags, os.Args[1:] in most programs. nil reads none.
	Args []string
	// Env is the environment. Default: os.Environ().
	Env []string
	// File is the file, whose name ends in .yaml, .yml, .toml or .json. Default: what the flag --config or SABIR_CONFIG names, or none.
	File string

	set map[string]string // see Loaded.Set
}

// Loaded are the settings that Load has found.
type Loaded struct {
	Settings Settings

	config  Config
	origins map[string]string // by path; for what some source has
	app     reflect.Value     // a copy of App as the code made it
	mu      sync.Mutex        // one Reload at a time
	live    *live             // what changes while the node runs
}

const prefix = "SABIR_"

// Load reads the settings. The error names each place that is wrong, but for what comes after a flag that cannot be read, or in a file that is
// no YAML, TOML or JSON.
func Load(c Config) (*Loaded, error) {
	l := &Loaded{Settings: c.Defaults, config: c, origins: map[string]string{}}
	l.Settings.Labels, l.Settings.Policies = maps.Clone(c.Defaults.Labels), maps.Clone(c.Defaults.Policies)
	if c.App != nil && (reflect.TypeOf(c.App).Kind() != reflect.Pointer || reflect.TypeOf(c.App).Elem().Kind() != reflect.Struct) {
		return nil, fmt.Errorf("config: App is a %T, and must be a pointer to a struct", c.App)
	}
	if c.App != nil {
		l.app = reflect.New(reflect.TypeOf(c.App).Elem())
		l.app.Elem().Set(reflect.ValueOf(c.App).Elem())
	}
	for _, one := range l.leaves() {
		if !one.value.IsZero() {
			l.origins[one.path] = "code"
		}
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	flags, file, err := l.flags(c.Args)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	values := variables(env)
	for _, name := range []string{c.File, values["SABIR_CONFIG"], file} {
		if name != "" {
			l.config.File = name // the last that names one
		}
	}
	var errs []error
	if l.config.File != "" {
		tree, err := readFile(l.config.File)
		if err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
		errs = append(errs, l.setAll(tree, "file "+l.config.File))
	}
	errs = append(errs, l.fromEnv(values), l.fromFlags(flags), l.setAll(tree(c.set), "set"), l.check())
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return l, nil
}

// setAll sets what a source has, of the node and of the program.
func (l *Loaded) setAll(tree map[string]any, origin string) error {
	own := maps.Clone(tree)
	app, has := own["app"]
	delete(own, "app")
	err := l.set(reflect.ValueOf(&l.Settings).Elem(), "", own, origin)
	switch {
	case !has || l.config.SkipApp:
		return err
	case l.config.App == nil:
		return errors.Join(err, fmt.Errorf("%s: the program has no settings of its own, and the section app is theirs", origin))
	}
	return errors.Join(err, l.set(reflect.ValueOf(l.config.App).Elem(), "app", app, origin))
}

// check fills in what default tags say, and checks the rules of validate tags.
func (l *Loaded) check() error {
	v := validate.New()
	var errs []error
	for i, s := range [2]any{&l.Settings, l.config.App} {
		if s == nil {
			continue
		}
		path := [2]string{"", "app"}[i]
		plan, err := v.Compile(reflect.TypeOf(s).Elem())
		if err != nil {
			return err
		}
		plan.SetDefaults(reflect.ValueOf(s).UnsafePointer())
		err = plan.Check(reflect.ValueOf(s).UnsafePointer())
		broken, ok := errors.AsType[validate.Errors](err)
		if !ok {
			errs = append(errs, err)
		}
		for _, field := range broken {
			at := join(path, field.Path)
			if dotted := strings.NewReplacer("[", ".", "]", "").Replace(at); l.origins[dotted] != "" {
				at = dotted // an entry of a map, under the name that set it
			}
			errs = append(errs, l.broken(at, field))
		}
	}
	return errors.Join(append(errs, l.Settings.faults(l.config.SkipApp)...)...)
}

// broken is the error of a setting that breaks a rule: with what set it, or how to set it where nothing did.
func (l *Loaded) broken(path string, field validate.FieldError) error {
	err := fmt.Errorf("%s: %s", path, field.Message)
	if origin := l.origins[path]; origin != "" {
		return fmt.Errorf("%s: %w", origin, err)
	}
	for _, one := range l.settable() {
		if one.path != path {
			continue
		}
		variable, name := variableOf(path), path
		if one.secret {
			variable, name = variable+"_FILE", name+"_file"
		}
		return fmt.Errorf("%w: set %s, --%s, or %s in the file", err, variable, name, name)
	}
	return err
}

// faults lists what is wrong with settings together: those that do nothing without another one, and addresses, keys and patterns that are none. A tool
// does not know what the code and the flags of the program set.
func (s *Settings) faults(tool bool) (errs []error) {
	elsewhere := ""
	if tool {
		elsewhere = ", which the environment and the file do not have: where the program's code or flags set it, set it here too"
	}
	for _, one := range []struct {
		given   bool
		name    string
		missing string
		needs   string
	}{
		{!s.Key.None(), "key", s.Join, "join"},
		{!s.NodeKey.None(), "node_key", s.Join, "join"},
		{len(s.NodeKeys) > 0, "node_keys", s.Join, "join"},
		{len(s.Seeds) > 0, "seeds", s.Join, "join"},
		{s.Advertise != "", "advertise", s.Join, "join"},
		{!s.HTTP.Key.None(), "http.key", s.HTTP.Address, "http.address"},
		{!s.Admin.Key.None(), "admin.key", s.Admin.Address, "admin.address"},
		{s.Admin.Metrics, "admin.metrics", s.Admin.Address, "admin.address"},
		{s.Admin.Profiler, "admin.profiler", s.Admin.Address, "admin.address"},
	} {
		if one.given && one.missing == "" {
			errs = append(errs, fmt.Errorf("%s does nothing without %s%s", one.name, one.needs, elsewhere))
		}
	}
	for _, one := range [][2]string{{"http.address", s.HTTP.Address}, {"admin.address", s.Admin.Address}} {
		name, address := one[0], one[1]
		if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s: %q is not host:port, such as :3000 or 0.0.0.0:3000", name, address))
		}
	}
	for _, one := range []struct {
		name string
		key  secret.Secret
	}{{"http.key", s.HTTP.Key}, {"admin.key", s.Admin.Key}} {
		if slices.ContainsFunc(split(one.key), isToken) {
			errs = append(errs, fmt.Errorf("%s: that is the token of a caller (a JWT), and not a key: the command line takes one from SABIR_HTTP_KEY, where this program looks for its own key", one.name))
		}
	}
	links := s.links()
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if address := links[name]; !strings.Contains(address, "://") {
			errs = append(errs, fmt.Errorf("%s: %q is not a URL, such as tcp://10.0.0.1:7700", name, address))
		}
	}
	if keys := split(s.Key); keys != nil {
		if err := seal.NewKeys(keys...).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("key: %w", err))
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Policies)) {
		if bad := names.PatternFault(pattern); bad != "" {
			errs = append(errs, fmt.Errorf("policies: the pattern %q %s", pattern, bad))
		}
	}
	return errs
}

// isToken reports whether a key has the form of a JSON web token, whose first part is an object in base64.
func isToken(key string) bool { return strings.HasPrefix(key, "eyJ") && strings.Count(key, ".") == 2 }

// links lists the addresses of nodes, by the names of their settings.
func (s *Settings) links() map[string]string {
	all := map[string]string{}
	if s.Join != "" {
		all["join"] = s.Join
	}
	for i, seed := range s.Seeds {
		all[fmt.Sprintf("seeds: number %d", i+1)] = seed
	}
	return all
}

func (l *Loaded) leaves() []leaf {
	list := leaves("", reflect.ValueOf(&l.Settings).Elem(), reflect.StructField{})
	if l.config.App != nil {
		list = append(list, leaves("app", reflect.ValueOf(l.config.App).Elem(), reflect.StructField{})...)
	}
	return list
}

// settable lists the settings that a flag or a variable can name: not those below a pattern, such as policies.
func (l *Loaded) settable() []leaf {
	return slices.DeleteFunc(l.leaves(), func(one leaf) bool { return !one.value.CanSet() })
}

// variables are those of the environment that begin with the prefix.
func variables(env []string) map[string]string {
	found := map[string]string{}
	for _, line := range env {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found
}

// variableOf is the variable that stands for a setting.
func variableOf(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// ofOthers are variables of the command line, and those that Kubernetes sets in a container where there is a Service called sabir.
var ofOthers = regexp.MustCompile(`^SABIR_((CONFIG|URL|(.*_)?SERVICE_(HOST|PORT.*)|(.*_)?PORT_\d+_.*)=|(.*_)?PORT=(tcp|udp|sctp)://)`)

// fromEnv sets what the environment has. Entries of maps with sections, such as policies, cannot be named by a variable.
func (l *Loaded) fromEnv(values map[string]string) error {
	var errs []error
	var known []string
	for _, one := range l.settable() {
		name := variableOf(one.path)
		known = append(known, name)
		text, given := values[name]
		delete(values, name)
		if one.secret {
			known = append(known, name+"_FILE")
			if file, has := values[name+"_FILE"]; has {
				delete(values, name+"_FILE")
				if given {
					errs = append(errs, fmt.Errorf("environment: %s and %s_FILE are both set: which is it?", name, name))
					continue
				}
				var err error
				if text, err = readSecret(file); err != nil {
					errs = append(errs, fmt.Errorf("environment: %s_FILE: %w", name, err))
					continue
				}
				given = true
			}
		}
		if given {
			errs = append(errs, l.set(one.value, one.path, text, "environment"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !ofOthers.MatchString(name+"="+values[name]) && !(l.config.SkipApp && strings.HasPrefix(name, prefix+"APP_")) {
			errs = append(errs, unknown(name, "", name, known, "environment"))
		}
	}
	return errors.Join(errs...)
}

// flags reads the command line, and returns the text of each flag, and that of --config.
func (l *Loaded) flags(args []string) (given map[string]string, file string, err error) {
	given = map[string]string{}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&file, "config", "", "")
	known := []string{"config"}
	for _, one := range l.settable() {
		name := one.path
		if one.secret {
			name += "_file"
		}
		known = append(known, name)
		note := func(text string) error {
			if _, twice := given[name]; twice {
				return errors.New("it is given twice")
			}
			given[name] = text
			return nil
		}
		if kindOf(one.value.Type()) == "boolean" {
			set.BoolFunc(name, "", note)
		} else {
			set.Func(name, "", note)
		}
	}
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, "", help{l.settable()}
		}
		if name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); undefined {
			return nil, "", unknown("--"+strings.TrimPrefix(name, "-"), "", strings.TrimPrefix(name, "-"), known, "flags")
		}
		return nil, "", fmt.Errorf("flags: %w", err)
	}
	if set.NArg() > 0 {
		return nil, "", fmt.Errorf("flags: %q is no flag", set.Arg(0))
	}
	return given, file, nil
}

// help is the error of --help: the flags that there are. It is [flag.ErrHelp].
type help struct{ settings []leaf }

func (h help) Error() string {
	var text strings.Builder
	text.WriteString("these are the flags; the variable SABIR_HTTP_ADDRESS stands for --http.address, and so on\n")
	for _, one := range h.settings {
		name, doc := one.path, one.field.Tag.Get("doc")
		if one.secret {
			name, doc = name+"_file", "A file with: "+doc
		}
		fmt.Fprintf(&text, "  --%s\n      %s\n", name, doc)
	}
	return text.String()
}

// Is reports whether it is [flag.ErrHelp].
func (h help) Is(err error) bool { return err == flag.ErrHelp }

func (l *Loaded) fromFlags(given map[string]string) error {
	var errs []error
	for _, one := range l.settable() {
		text, found := given[one.path]
		if file, has := given[one.path+"_file"]; has && one.secret {
			var err error
			if text, err = readSecret(file); err != nil {
				errs = append(errs, fmt.Errorf("flags: --%s_file: %w", one.path, err))
				continue
			}
			found = true
		}
		if found {
			errs = append(errs, l.set(one.value, one.path, text, "flag"))
		}
	}
	return errors.Join(errs...)
}

// readSecret reads a secret from a file, without the line break at its end. It is an error where it holds none.
func readSecret(path any) (string, error) {
	text, err := os.ReadFile(fmt.Sprint(path))
	if err != nil {
		return "", err
	}
	key := strings.TrimRight(string(text), "\r\n")
	if key == "" {
		return "", fmt.Errorf("the file %v holds no secret", path)
	}
	return key, nil
}

// Value is one setting as it was found.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`  // "(hidden)" for a secret
	Origin string `json:"origin"` // "set", "flag", "environment", "file …", "code" or "default"
	Live   bool   `json:"live"`   // it can change while the node runs
}

// Values lists the settings that have a value, in the order of [Settings], with where each is from. Secrets are hidden, and passwords in
// addresses.
func (l *Loaded) Values() (list []Value) {
	for _, one := range l.leaves() {
		origin := l.origins[one.path]
		if origin == "" && one.value.IsZero() {
			continue
		}
		if origin == "" {
			origin = "default" // of a default tag
		}
		list = append(list, Value{one.path, shown(one), origin, one.live()})
	}
	return list
}
