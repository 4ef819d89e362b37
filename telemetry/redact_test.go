package telemetry_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/slogtest"

	"github.com/sabir-go/sabir/telemetry"
)

// credentials are logged as a group of fields.
type credentials struct{ user, password string }

func (c credentials) LogValue() slog.Value {
	return slog.GroupValue(slog.String("user", c.user), slog.String("Password", c.password))
}

func TestFieldsAreHiddenByTheirNamesWhereverTheyStand(t *testing.T) {
	for _, test := range []struct {
		name string
		log  func(*slog.Logger)
		want string
	}{
		{"a field", func(l *slog.Logger) { l.Info("in", "password", "s3cret", "user", "ada") }, `{"level":"INFO","msg":"in","password":"(hidden)","user":"ada"}`},
		{"whatever its case", func(l *slog.Logger) { l.Info("in", "PassWord", "s3cret") }, `{"level":"INFO","msg":"in","PassWord":"(hidden)"}`},
		{"a number too", func(l *slog.Logger) { l.Info("in", "token", 17) }, `{"level":"INFO","msg":"in","token":"(hidden)"}`},
		{"of the logger", func(l *slog.Logger) { l.With("token", "s3cret", "a", 1).Info("in") }, `{"level":"INFO","msg":"in","token":"(hidden)","a":1}`},
		{"in a group", func(l *slog.Logger) { l.Info("in", slog.Group("by", "user", "ada", "password", "s3cret")) }, `{"level":"INFO","msg":"in","by":{"user":"ada","password":"(hidden)"}}`},
		{"in a group of the logger", func(l *slog.Logger) { l.WithGroup("by").Info("in", "password", "s3cret") }, `{"level":"INFO","msg":"in","by":{"password":"(hidden)"}}`},
		{"in what resolves to a group", func(l *slog.Logger) { l.Info("in", "by", credentials{"ada", "s3cret"}) }, `{"level":"INFO","msg":"in","by":{"user":"ada","Password":"(hidden)"}}`},
		{"a whole group", func(l *slog.Logger) { l.Info("in", slog.Group("token", "a", "s3cret")) }, `{"level":"INFO","msg":"in","token":"(hidden)"}`},
		{"a whole group of the logger", func(l *slog.Logger) {
			l.WithGroup("token").With("a", "s3cret").WithGroup("b").Info("in", "c", "s3cret")
		}, `{"level":"INFO","msg":"in","token":"(hidden)"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			withoutTime := func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}
			test.log(slog.New(telemetry.Redact(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutTime}), "password", "Token")))
			if got := out.String(); got != test.want+"\n" {
				t.Errorf("it writes %s, want %s", got, test.want)
			}
		})
	}
}

func TestARedactorKeepsTheRulesOfSlog(t *testing.T) {
	var out *buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out = &buffer{}
		return telemetry.Redact(slog.NewJSONHandler(out, nil), "password")
	}, func(t *testing.T) map[string]any { return linesOf(t, out)[0] })
}
