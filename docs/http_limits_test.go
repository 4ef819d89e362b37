package docs

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/filter"
)

func TestATenantOfTheGuideHasALimitOfItsOwn(t *testing.T) {
	secret := []byte(strings.Repeat("s", 32))
	// doc: tenant-limit
	limited := sabir.HTTP("127.0.0.1:0", web.With(web.Config{
		Auth:      []auth.Authenticator{&auth.JWT{Secret: secret}},
		AfterAuth: web.Filters{filter.RateLimit{Rate: 50, Burst: 50, ByClaim: "tenant"}}, // it reads the token's claims: all callers of a tenant together
	}))
	// end
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(_ context.Context, in HelloRequest) (HelloReply, error) {
		return HelloReply{Text: "Hello, " + in.Name}, nil
	})
	node := startFor(t, sabir.Serve(greeter), limited)
	call := func(subject, tenant string) *http.Response {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": subject, "tenant": tenant, "exp": time.Now().Add(time.Hour).Unix()}).SignedString(secret)
		if err != nil {
			t.Error(err)
			return nil
		}
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+node.HTTPAddr()+"/greeter/hello", strings.NewReader(`{"name":"Ada"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return nil
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		return response
	}
	var passed, refused atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range 300 {
		all.Go(func() {
			switch response := call("user-"+strconv.Itoa(i), "acme"); {
			case response == nil:
			case response.StatusCode == http.StatusOK:
				passed.Add(1)
			case response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "1":
				refused.Add(1)
			default:
				t.Errorf("status %d, Retry-After %q", response.StatusCode, response.Header.Get("Retry-After"))
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	// All of them may pass only where they took so long that as many became free.
	if most := int64(50 + 50*took.Seconds() + 1); passed.Load() < 50 || passed.Load() > most || passed.Load()+refused.Load() != 300 {
		t.Errorf("in %v %d calls of a tenant passed, of at most %d, and %d were refused", took, passed.Load(), most, refused.Load())
	}
	if response := call("user-1", "other"); response == nil || response.StatusCode != http.StatusOK {
		t.Errorf("another tenant got %v", response)
	}
}
