package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/redact"
)

// The headers of Standard Webhooks.
const (
	idHeader        = "Webhook-Id"
	timeHeader      = "Webhook-Timestamp"
	signatureHeader = "Webhook-Signature"
)

// svixHeaders are the headers of the senders that Svix serves, whose signatures became the rules of Standard Webhooks.
var svixHeaders = [...][2]string{{"Svix-Id", idHeader}, {"Svix-Timestamp", timeHeader}, {"Svix-Signature", signatureHeader}}

// standard returns the headers of a request under the names of Standard Webhooks.
func standard(header http.Header) http.Header {
	if header.Get(svixHeaders[0][0]) == "" || header.Get(idHeader) != "" {
		return header
	}
	renamed := header.Clone()
	for _, names := range svixHeaders {
		renamed[names[1]] = header[names[0]]
	}
	return renamed
}

// tolerance is how far the time of a signature may be from now, so that a request that was recorded is of no use later.
const tolerance = 5 * time.Minute

const secretPrefix = "whsec_"

// keyOf reads a secret: 24 to 64 bytes as base64, with or without the prefix "whsec_".
func keyOf(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New(`a secret of webhooks is "whsec_" and 24 to 64 random bytes as base64, such as from: echo whsec_$(openssl rand -base64 32)`)
	}
	return key, nil
}

// maxSecrets bounds the signatures of a request: receivers read the header by parts and refuse long ones.
const maxSecrets = 4

// keysOf reads the secrets of an endpoint.
func keysOf(secrets []string) ([][]byte, error) {
	if len(secrets) > maxSecrets {
		return nil, fmt.Errorf("it has %d secrets, and at most %d may sign", len(secrets), maxSecrets)
	}
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

// sign returns the signature of a body: v1, HMAC with SHA-256.
func sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, at)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed sets the headers of the signatures, one for each key.
func signed(header http.Header, keys [][]byte, id string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		signatures[i] = sign(key, id, at, body)
	}
	header.Set(idHeader, id)
	header.Set(timeHeader, at)
	header.Set(signatureHeader, strings.Join(signatures, " "))
}

// verify returns why a request is not signed by one of the keys; nil where it is.
func verify(keys [][]byte, header http.Header, now time.Time, body []byte) error {
	id, at := header.Get(idHeader), header.Get(timeHeader)
	if id == "" || at == "" || header.Get(signatureHeader) == "" {
		return errors.New("the request lacks Webhook-Id, Webhook-Timestamp or Webhook-Signature")
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return errors.New("the Webhook-Timestamp is no number of seconds")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return errors.New("the Webhook-Timestamp is more than 5 minutes from the time of this server")
	}
	for _, key := range keys {
		want := []byte(sign(key, id, at, body))
		for given := range strings.FieldsSeq(header.Get(signatureHeader)) {
			if hmac.Equal([]byte(given), want) {
				return nil
			}
		}
	}
	return errors.New("no signature of the request is by a secret of this server")
}

// shown is an endpoint without its secrets and the query of its URL, which may hold one too.
func (e Endpoint) shown() any {
	type shown Endpoint // without the methods
	e.Secrets = nil
	if u, err := url.Parse(e.URL); err != nil || u.User != nil || u.RawQuery != "" {
		e.URL = redact.Hidden
	}
	return shown(e)
}

// Format keeps the secrets out of what fmt prints.
func (e Endpoint) Format(f fmt.State, verb rune) { redact.Print(f, verb, e.shown()) }

// MarshalJSON keeps the secrets out of JSON, which logs write. A program that keeps its endpoints as JSON needs a type of its own.
func (e Endpoint) MarshalJSON() ([]byte, error) { return json.Marshal(e.shown()) }

// shown is a receiver without its secrets.
func (r Receiver) shown() any {
	type shown Receiver // without the methods
	r.Secrets = nil
	return shown(r)
}

// Format keeps the secrets out of what fmt prints.
func (r Receiver) Format(f fmt.State, verb rune) { redact.Print(f, verb, r.shown()) }

// LogValue keeps the secrets out of logs.
func (r Receiver) LogValue() slog.Value { return slog.AnyValue(r.shown()) }
