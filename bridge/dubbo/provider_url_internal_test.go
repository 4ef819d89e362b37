package dubbo

import (
	"encoding/json"
	"maps"
	"testing"
	"time"
)

// registeredByJava is a URL that Dubbo 3.3.6 wrote into ZooKeeper.
const registeredByJava = "dubbo://192.0.2.2:20991/com.shop.OrderService?application=java-shop&deprecated=false&dubbo=2.0.2&dubbo.tag=gray&dynamic=true&generic=false&interface=com.shop.OrderService&metadata-type=local&methods=add,ping&prefer.serialization=hessian2,fastjson2&release=3.3.6&revision=1.0.0&service-name-mapping=true&side=provider&timeout=2500&timestamp=1795776826056&version=1.0.0&weight=50&slow.timeout=7000"

func TestAProviderOfARegistryIsReadFromItsURL(t *testing.T) {
	got, ok, err := parseProviderURL(registeredByJava)
	if !ok || err != nil || got.address != "192.0.2.2:20991" || got.key != (key{"com.shop.OrderService", "1.0.0", ""}) {
		t.Fatalf("got %+v, %v, %v", got, ok, err)
	}
	if namedTimeout(got.params, "ping") != 2500*time.Millisecond || namedTimeout(got.params, "slow") != 7*time.Second {
		t.Errorf("the time limits are %v and %v", namedTimeout(got.params, "ping"), namedTimeout(got.params, "slow"))
	}
	want := map[string]string{"application": "java-shop", "release": "3.3.6", "version": "1.0.0", "dubbo.tag": "gray", "weight": "50", "timeout": "2500", "timestamp": "1795776826056"}
	if shown := labels(got.params); !maps.Equal(shown, want) {
		t.Errorf("the labels are %v", shown)
	}
}

func TestProvidersThatGetNoCallsAndThoseThatAreNone(t *testing.T) {
	for text, fault := range map[string]bool{
		"dubbo://10.0.0.1:20880/a.B?disabled=true":          false,
		"dubbo://10.0.0.1:20880/a.B?enabled=false":          false,
		"dubbo://10.0.0.1:20880/a.B?category=configurators": false,
		"override://10.0.0.1:20880/a.B?disabled=true":       false,
		"empty://10.0.0.1/a.B?category=providers":           false,
		"rest://10.0.0.1:8080/a.B":                          false,
		"dubbo://10.0.0.1/a.B":                              true,
		"dubbo://:20880/a.B":                                true,
		"dubbo://10.0.0.1:0/a.B":                            true,
		"dubbo://10.0.0.1:99999/a.B":                        true,
		"dubbo://0.0.0.0:20880/a.B":                         true,
		"dubbo://224.0.0.1:20880/a.B":                       true,
		"dubbo://10.0.0.1:20880/a.B?x=%zz":                  true,
	} {
		if got, ok, err := parseProviderURL(text); ok || (err != nil) != fault {
			t.Errorf("%s is %+v, %v, %v", text, got, ok, err)
		}
	}
}

// FuzzRegistries reads what anybody may have written into a registry.
func FuzzRegistries(f *testing.F) {
	f.Add(registeredByJava, `{"app":"a","services":{"x":{"name":"a.B","port":1,"protocol":"dubbo","version":"1.0.0","params":{"timeout":"1"}}}}`, `[{"port":20992,"protocol":"dubbo"}]`, `{"port":"20880","protocol":"dubbo"}`)
	f.Add("tri://10.0.0.1:50051/a.B?side=provider", `{"services":{"x":{"name":"a.B","port":1,"protocol":"tri"}}}`, "[]", `{"port":"50051","protocol":"tri"}`)
	f.Add("dubbo://[::1]:1/a?version=0.0.0&group=g", `{"services":{"x":null}}`, "[]", "{")
	f.Fuzz(func(t *testing.T, text, metadata, endpoints, service string) {
		if p, ok, err := parseProviderURL(text); ok {
			if p.address == "" || err != nil {
				t.Errorf("%q has the address %q, %v", text, p.address, err)
			}
			if limit := namedTimeout(p.params, "m"); limit < 0 || limit > 24*time.Hour {
				t.Errorf("the time limit is %v", limit)
			}
			labels(p.params)
		}
		var info metadataInfo
		i := Instance{Application: "a", Host: "10.0.0.1", Port: 1, Metadata: map[string]string{instanceEndpoints: endpoints, metadataServiceParams: service}}
		if json.Unmarshal([]byte(metadata), &info) == nil {
			l := &lookout{discovery: newDiscovery(&bridge{})}
			l.provided([]Instance{i}, map[string]*metadataInfo{"": &info})
		}
		if at, err := metadataAddress(i); err == nil && at.address == "" {
			t.Error("an address is empty")
		}
	})
}
