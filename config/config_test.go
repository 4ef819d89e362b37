package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads settings without the environment of the test, unless it has one.
func load(t *testing.T, c config.Config) *config.Loaded {
	t.Helper()
	if c.Env == nil {
		c.Env = []string{}
	}
	l, err := config.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const asYAML = `
id: shop-1
join: tcp://0.0.0.0:7700
seeds: [tcp://a:7700, tcp://b:7700]
labels: {rack: r1}
stop_timeout: 20s
http:
  address: ":3000"
log: {level: warn, format: json}
policies:
  users.*: {timeout: 2s, attempts: 3, breaker: true, max_calls: 2000000, rate: 100.5}
`

const asTOML = `
id = "shop-1"
join = "tcp://0.0.0.0:7700"
seeds = ["tcp://a:7700", "tcp://b:7700"]
stop_timeout = "20s"
[labels]
rack = "r1"
[http]
address = ":3000"
[log]
level = "warn"
format = "json"
[policies."users.*"]
timeout = "2s"
attempts = 3
breaker = true
max_calls = 2000000
rate = 100.5
`

const asJSON = `{"id": "shop-1", "join": "tcp://0.0.0.0:7700", "seeds": ["tcp://a:7700", "tcp://b:7700"], "labels": {"rack": "r1"}, "stop_timeout": "20s",
	"http": {"address": ":3000"}, "log": {"level": "warn", "format": "json"},
	"policies": {"users.*": {"timeout": "2s", "attempts": 3, "breaker": true, "max_calls": 2000000, "rate": 100.5}}}`

func TestYAMLAndTOMLAndJSONSayTheSame(t *testing.T) {
	var first string
	for name, text := range map[string]string{"a.yaml": asYAML, "a.toml": asTOML, "a.json": asJSON} {
		s := load(t, config.Config{File: write(t, name, text)}).Settings
		want := config.Policy{Timeout: 2 * time.Second, Attempts: 3, Breaker: true, MaxCalls: 2_000_000, Rate: 100.5}
		if s.Policies["users.*"] != want || s.StopTimeout != 20*time.Second || s.HTTP.Address != ":3000" {
			t.Errorf("%s: %+v", name, s)
		}
		if got := fmt.Sprintf("%+v", s); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%s: %s, want %s", name, got, first)
		}
	}
}

func TestFlagsGoBeforeTheEnvironmentBeforeTheFileBeforeTheCode(t *testing.T) {
	file := write(t, "sabir.yaml", "zone: file\nid: file\njoin: tcp://file:1\nhttp: {address: 'file:1'}")
	l := load(t, config.Config{
		Defaults: config.Settings{Zone: "code", ID: "code", Join: "tcp://code:1", MaxDepth: 7},
		Env:      []string{"SABIR_ID=env", "SABIR_JOIN=tcp://env:1", "SABIR_CONFIG=" + file, "PATH=/bin"},
		Args:     []string{"--join=tcp://flag:1", "--admin.profiler", "--admin.address", ":9464"},
	})
	want := []config.Value{
		{"id", "env", "environment", false}, {"join", "tcp://flag:1", "flag", false}, {"zone", "file", "file " + file, true}, {"max_depth", "7", "code", true},
		{"http.address", "file:1", "file " + file, false}, {"admin.address", ":9464", "flag", false}, {"admin.profiler", "true", "flag", false},
	}
	if got := l.Values(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestAWrongNameOrValueIsAnErrorThatSaysWhereAndWhatWasMeant(t *testing.T) {
	app := struct {
		Currency string `json:"currency"`
	}{}
	for name, c := range map[string]struct {
		from config.Config
		says []string
	}{
		"a file's setting":      {config.Config{File: write(t, "a.yaml", "jion: x")}, []string{"a.yaml", "no setting jion", "did you mean join?"}},
		"one in a section":      {config.Config{File: write(t, "b.toml", "[http]\nadress = ':1'")}, []string{"b.toml", "http.adress", "http.address?"}},
		"one of a policy":       {config.Config{File: write(t, "c.json", `{"policies":{"a.*":{"timout":"1s"}}}`)}, []string{"policies.a.*.timout", "timeout?"}},
		"a variable":            {config.Config{Env: []string{"SABIR_LOG_LEVLE=info"}}, []string{"environment", "SABIR_LOG_LEVEL?"}},
		"a flag":                {config.Config{Args: []string{"--log.lvel", "info"}}, []string{"--log.lvel", "log.level?"}},
		"an argument":           {config.Config{Args: []string{"serve"}}, []string{`"serve" is no flag`}},
		"a flag of a secret":    {config.Config{Args: []string{"--key", "x"}}, []string{"no setting --key", "key_file"}},
		"a level":               {config.Config{Env: []string{"SABIR_LOG_LEVEL=loud"}}, []string{"level", "debug"}},
		"a duration":            {config.Config{Env: []string{"SABIR_STOP_TIMEOUT=10"}}, []string{"stop_timeout", "1.5s"}},
		"a caller's token":      {config.Config{Env: []string{"SABIR_HTTP_ADDRESS=:3000", "SABIR_HTTP_KEY=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"}}, []string{"http.key", "the token of a caller (a JWT)"}},
		"a number":              {config.Config{Env: []string{"SABIR_MAX_DEPTH=ten"}}, []string{"max_depth", "whole number"}},
		"a number for text":     {config.Config{File: write(t, "h.yaml", "zone: 1.10")}, []string{"zone", "between quotes"}},
		"a number for a key":    {config.Config{File: write(t, "i.yaml", "key: 007")}, []string{"key", "between quotes"}},
		"two documents":         {config.Config{File: write(t, "j.json", `{} {}`)}, []string{"behind the document"}},
		"a port":                {config.Config{Env: []string{"SABIR_HTTP_PORT=3000"}}, []string{"no setting SABIR_HTTP_PORT"}},
		"no address":            {config.Config{Args: []string{"--admin.metrics"}}, []string{"admin.metrics does nothing without admin.address"}},
		"no cluster to prove":   {config.Config{Env: []string{"SABIR_NODE_KEY=x"}}, []string{"node_key does nothing without join"}},
		"a name twice in YAML":  {config.Config{File: write(t, "j.yaml", "zone: a\nzone: b")}, []string{"zone", "already defined"}},
		"a name twice in TOML":  {config.Config{File: write(t, "k.toml", "zone = 'a'\nzone = 'b'")}, []string{"zone", "already defined"}},
		"a name twice in JSON":  {config.Config{File: write(t, "l.json", `{"http": {"address": ":1", "key_file": "x", "address": ":2"}}`)}, []string{"address", "given twice"}},
		"a flag twice":          {config.Config{Args: []string{"--zone=a", "--zone=b"}}, []string{"zone", "given twice"}},
		"a label twice":         {config.Config{Env: []string{"SABIR_LABELS=a=1,a=2"}}, []string{"labels", "the name a twice"}},
		"a secret and its file": {config.Config{File: write(t, "m.yaml", "join: tcp://:1\nkey: 0123456789abcdef\nkey_file: there")}, []string{"key and key_file are both set"}},
		"a port alone":          {config.Config{Env: []string{"SABIR_HTTP_ADDRESS=3000"}}, []string{`http.address: "3000" is not host:port`}},
		"a seed without scheme": {config.Config{Env: []string{"SABIR_JOIN=tcp://:1", "SABIR_SEEDS=tcp://a:1,b:1"}}, []string{`seeds: number 2: "b:1" is not a URL`}},
		"a short key":           {config.Config{Env: []string{"SABIR_JOIN=tcp://:1", "SABIR_KEY=short"}}, []string{"cluster key 1 has 5 bytes"}},
		"help":                  {config.Config{Args: []string{"--help"}}, []string{"--http.address\n      Where it listens", "--key_file\n      A file with:"}},
		"no cluster":            {config.Config{Env: []string{"SABIR_KEY=x"}}, []string{"key does nothing without join"}},
		"a section":             {config.Config{File: write(t, "d.yaml", "http: ':3000'")}, []string{"http: want a section"}},
		"a list":                {config.Config{File: write(t, "e.yaml", "zone: [a, b]")}, []string{"zone", "one value"}},
		"no YAML":               {config.Config{File: write(t, "f.yaml", "a: [")}, []string{"f.yaml"}},
		"another ending":        {config.Config{File: write(t, "f.ini", "a=b")}, []string{".yaml, .yml, .toml or .json"}},
		"no file":               {config.Config{File: "missing.yaml"}, []string{"missing.yaml"}},
		"no secret":             {config.Config{Env: []string{"SABIR_KEY_FILE=" + write(t, "key", "\n")}}, []string{"SABIR_KEY_FILE", "holds no secret"}},
		"a secret twice":        {config.Config{Env: []string{"SABIR_KEY=x", "SABIR_KEY_FILE=y"}}, []string{"both set"}},
		"an own setting":        {config.Config{App: &app, Env: []string{"SABIR_APP_CURENCY=EUR"}}, []string{"SABIR_APP_CURRENCY?"}},
		"no own settings":       {config.Config{File: write(t, "g.yaml", "app: {currency: EUR}")}, []string{"no settings of its own"}},
		"no pointer":            {config.Config{App: app}, []string{"pointer to a struct"}},
	} {
		if c.from.Env == nil {
			c.from.Env = []string{}
		}
		_, err := config.Load(c.from)
		for _, says := range c.says {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q in it", name, err, says)
			}
		}
	}
}

func TestVariablesOfKubernetesAndOfTheCommandLineAreNoMistakes(t *testing.T) {
	load(t, config.Config{Env: []string{"SABIR_URL=http://a", "SABIR_SERVICE_HOST=10.0.0.1", "SABIR_SERVICE_PORT=7700", "SABIR_SERVICE_PORT_LINKS=7700",
		"SABIR_PORT=tcp://10.0.0.1:7700", "SABIR_PORT_7700_TCP=tcp://10.0.0.1:7700", "SABIR_PORT_7700_TCP_ADDR=10.0.0.1"}})
}

const secretText = "hunter2-hunter2-hunter2"

func TestSecretsComeFromFilesAndAreShownNowhere(t *testing.T) {
	key := write(t, "key", secretText+"\n")
	app := struct {
		Token secret.Secret `json:"token"`
	}{}
	file := write(t, "sabir.yaml", "admin: {address: ':0', key_file: "+key+"}\napp: {token_file: "+key+"}\njoin: nats://user:hunter2@broker:4222")
	l := load(t, config.Config{File: file, App: &app, Env: []string{"SABIR_KEY_FILE=" + key}, Args: []string{"--http.key_file", key, "--http.address", ":0"}})
	s := l.Settings
	for name, secret := range map[string]secret.Secret{"environment": s.Key, "flag": s.HTTP.Key, "file": s.Admin.Key, "own": app.Token} {
		if string(secret.Bytes()) != secretText {
			t.Errorf("%s: %q", name, secret.Bytes())
		}
	}
	asJSON, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%+v %#v", s, s), fmt.Sprint(l.Values()), string(asJSON[:strings.Index(string(asJSON), `"join"`)])} {
		if strings.Contains(text, "hunter2-") {
			t.Errorf("it shows the secret: %s", text)
		}
	}
	if text := fmt.Sprint(l.Values()); strings.Contains(text, "hunter2") || strings.Count(text, "(hidden)") != 4 {
		t.Errorf("the list is %s", text)
	}
}

func TestAProgramsOwnSettingsFollowTheSameRules(t *testing.T) {
	type own struct {
		Currency string        `json:"currency" default:"EUR" validate:"len=3"`
		Limit    int           `json:"limit" validate:"min=1"`
		Pause    time.Duration `json:"pause"`
		Mail     struct {
			From string `json:"from"`
		} `json:"mail"`
	}
	app := own{Pause: time.Second}
	l := load(t, config.Config{App: &app, Env: []string{"SABIR_APP_LIMIT=5"}, Args: []string{"--app.mail.from", "shop@example.com"}})
	if app.Currency != "EUR" || app.Limit != 5 || app.Mail.From != "shop@example.com" {
		t.Errorf("%+v", app)
	}
	want := []config.Value{{"app.currency", "EUR", "default", false}, {"app.limit", "5", "environment", false}, {"app.pause", "1s", "code", false}, {"app.mail.from", "shop@example.com", "flag", false}}
	if got := l.Values(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	_, err := config.Load(config.Config{App: &own{}, Env: []string{"SABIR_APP_CURRENCY=EURO"}})
	for _, says := range []string{"environment: app.currency: ", "app.limit: limit must be 1 or greater: set SABIR_APP_LIMIT, --app.limit, or app.limit in the file"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q in it", err, says)
		}
	}
}

func TestASettingMayBeATextThatItsTypeReads(t *testing.T) {
	var own struct {
		Level slog.Level    `json:"level"`
		Hosts []netip.Addr  `json:"hosts"`
		Since time.Time     `json:"since"`
		Until *time.Time    `json:"until"`
		Audit *bool         `json:"audit"`
		Quota map[day]int64 `json:"quota"`
	}
	file := write(t, "shop.yaml", "app: {since: 2026-01-02T03:04:05Z, until: \"2026-01-03T00:00:00Z\", quota: {monday: 3}}")
	l := load(t, config.Config{App: &own, File: file, Env: []string{"SABIR_APP_HOSTS=10.0.0.1,10.0.0.2"}, Args: []string{"--app.level=warn", "--app.audit=false"}})
	if own.Level != slog.LevelWarn || len(own.Hosts) != 2 || own.Hosts[1].String() != "10.0.0.2" || own.Since.Day() != 2 || own.Until == nil || own.Until.Day() != 3 ||
		own.Audit == nil || *own.Audit || own.Quota["monday"] != 3 {
		t.Errorf("%+v", own)
	}
	if text := fmt.Sprint(l.Values()); !strings.Contains(text, "{app.level WARN flag") || !strings.Contains(text, "{app.audit false flag") {
		t.Error(text)
	}
	_, err := config.Load(config.Config{App: &own, Env: []string{"SABIR_APP_LEVEL=loud"}})
	if err == nil || !strings.Contains(err.Error(), `environment: app.level: "loud" is no slog.Level`) {
		t.Error(err)
	}
}

// day is the key of a map of settings.
type day string

func TestTheFieldsOfAnEmbeddedStructAreSettingsOfTheOuterOne(t *testing.T) {
	type Place struct {
		Region string `json:"region" validate:"required"`
		Zone   string `json:"zone" default:"a"`
	}
	var own struct {
		Place
		Zone string `json:"zone"`
	}
	_, err := config.Load(config.Config{App: &own, Env: []string{}})
	if err == nil || !strings.Contains(err.Error(), "app.region: region is a required field: set SABIR_APP_REGION, --app.region, or app.region in the file") {
		t.Error(err)
	}
	load(t, config.Config{App: &own, Env: []string{"SABIR_APP_REGION=eu"}, Args: []string{"--app.zone=b"}})
	if own.Region != "eu" || own.Zone != "b" {
		t.Errorf("%+v", own)
	}
	if schema := string(config.Schema(&own)); !strings.Contains(schema, `"region"`) || strings.Contains(schema, `"Place"`) {
		t.Error(schema)
	}
}

func TestATypeThatNoSettingCanHaveIsNamed(t *testing.T) {
	type shelf struct {
		Name string `json:"name"`
	}
	var own struct {
		List  []shelf        `json:"list"`
		One   *shelf         `json:"one"`
		Any   any            `json:"any"`
		ByDay map[int]string `json:"by_day"`
	}
	_, err := config.Load(config.Config{App: &own, Env: []string{}, File: write(t, "shop.yaml", "app: {list: [{name: a}], one: {name: a}, any: 5, by_day: {1: a}}")})
	for _, want := range []string{"app.list: a setting cannot have the type []config_test.shelf", "app.one: a setting cannot have the type config_test.shelf",
		"app.any: a setting cannot have the type interface {}", "app.by_day: a setting cannot have the type map[int]string"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

func TestWhatStandsBehindTheDocumentOfAFileIsAnError(t *testing.T) {
	for name, text := range map[string]string{"shop.yaml": "id: a\n---\nid: b\n", "shop.json": `{"id":"a"}{"id":"b"}`} {
		if _, err := config.Load(config.Config{Env: []string{}, File: write(t, name, text)}); err == nil || !strings.Contains(err.Error(), "there is something behind the document") {
			t.Errorf("%s: %v", name, err)
		}
	}
	load(t, config.Config{File: write(t, "empty.yaml", "# nothing yet\n")})
}

func TestAMissingSettingIsNamedInFullWithTheWaysToSetIt(t *testing.T) {
	var app struct {
		Broker string        `json:"broker" validate:"required"`
		Token  secret.Secret `json:"token" validate:"required"`
	}
	_, err := config.Load(config.Config{App: &app, Env: []string{}})
	for _, says := range []string{
		"app.broker: broker is a required field: set SABIR_APP_BROKER, --app.broker, or app.broker in the file",
		"app.token: token is a required field: set SABIR_APP_TOKEN_FILE, --app.token_file, or app.token_file in the file",
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q in it", err, says)
		}
	}
}

func TestAllMistakesOfAFileAndTheEnvironmentAreNamedAtOnce(t *testing.T) {
	file := write(t, "many.yaml", `
kee: x
http: {adress: ":3000"}
admin: {metrics: true}
stop_timeout: 5
log: {level: loud}
policies:
  "a.*": {timeout: soon}
  "b.*": {timout: 1s}
`)
	_, err := config.Load(config.Config{File: file, Env: []string{"SABIR_MAX_DEPTH=ten"}})
	for _, says := range []string{"no setting kee", "http.adress", "admin.metrics does nothing", "stop_timeout", "log.level", "policies.a.*.timeout", "policies.b.*.timout", "max_depth"} {
		if err == nil || strings.Count(err.Error(), says) != 1 {
			t.Errorf("the error is %v, want %q in it once", err, says)
		}
	}
}

func TestTheSchemaKnowsEachSettingAndNoOther(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Type       string
			Properties map[string]struct{ Enum []string }
		}
		AdditionalProperties bool
	}
	schema.AdditionalProperties = true
	if err := json.Unmarshal(config.Schema(struct {
		Currency string `json:"currency"`
	}{}), &schema); err != nil {
		t.Fatal(err)
	}
	p := schema.Properties
	if schema.AdditionalProperties || p["join"].Type != "string" || p["seeds"].Type != "array" || p["max_depth"].Type != "integer" || p["key_file"].Type != "string" ||
		len(p["log"].Properties["level"].Enum) != 4 || p["app"].Properties["currency"].Enum != nil || len(p["app"].Properties) != 1 {
		t.Errorf("%+v", schema)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add(0, []byte(asYAML))
	f.Add(1, []byte(asTOML))
	f.Add(2, []byte(asJSON))
	f.Fuzz(func(t *testing.T, kind int, text []byte) {
		name := []string{"a.yaml", "a.toml", "a.json"}[uint(kind)%3]
		_, _ = config.Load(config.Config{File: write(t, name, string(text)), Env: []string{}})
	})
}
