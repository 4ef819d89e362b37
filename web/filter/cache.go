package filter

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// CacheOption is an option of [Cache].
type CacheOption func(*cacheHeaders)

// Shared lets proxies and CDNs keep answers of cached actions to callers that are nobody in particular, whoever asks next:
// only for answers that depend on the address alone.
func Shared() CacheOption { return func(c *cacheHeaders) { c.shared = true } }

// MaxAge is how long answers are good for whose action has no cache of its own; without it, 0: they are kept, but asked for
// anew each time.
func MaxAge(d time.Duration) CacheOption {
	return func(c *cacheHeaders) {
		c.wrong.want(d >= 0, "Cache: MaxAge(%v)", d)
		c.maxAge = d
	}
}

type cacheHeaders struct {
	wrong  problems
	shared bool
	maxAge time.Duration
	texts  sync.Map // of time.Duration and public, the Cache-Control text; as many as there are cached actions
}

// Cache gives answers to GET and HEAD an ETag, a hash of the body, and answers with 304 and no body to those who have it
// (RFC 9110, section 13.1.2). Cache-Control tells for how long the action's own cache keeps its answers, as it noted with
// sabir.CacheNote: "private, max-age=60", or "no-cache" for those that keep none; an answer that says something itself, or
// sets a cookie, is not changed in this. Errors are "no-store".
//
// The call is made all the same: what a 304 spares is sending the answer. An answer that was kept here for a while may be
// kept elsewhere as long again.
func Cache(options ...CacheOption) exchange.Filter {
	c := &cacheHeaders{}
	for _, o := range options {
		o(c)
	}
	return c.wrong.filter(exchange.Filter{Name: "cache", After: c.after})
}

func (c *cacheHeaders) after(x *exchange.Exchange) {
	if x.Method != "GET" && x.Method != "HEAD" {
		return
	}
	if status(x) != 200 {
		if status(x) >= 400 && !x.Answer.Has("Cache-Control") {
			x.Answer.Add("Cache-Control", "no-store") // some statuses are kept where nothing is said (section 15.1)
		}
		return
	}
	tag := x.Answer.Get("ETag")
	if tag == "" {
		tag = bodyTag(x)
		x.Answer.Add("ETag", tag)
	}
	if !x.Answer.Has("Cache-Control") {
		x.Answer.Add("Cache-Control", c.control(x))
	}
	for line := range x.Header.All("If-None-Match") {
		if matchesTag(line, tag) {
			x.Status, x.Type, x.Out = 304, "", x.Out[:0]
			x.Answer.Delete("Content-Encoding")
			return
		}
	}
}

// bodyTag is a strong tag: answers with the same tag have the same bytes, but for one chance in 2^64.
func bodyTag(x *exchange.Exchange) string {
	var room [18]byte
	sum := xxhash.Sum64(x.Out)
	room[0], room[17] = '"', '"'
	for i := range 16 {
		room[16-i] = "0123456789abcdef"[sum>>(4*i)&15]
	}
	return string(room[:])
}

// control is what the action's cache says.
func (c *cacheHeaders) control(x *exchange.Exchange) string {
	if x.Answer.Has("Set-Cookie") {
		return "no-store"
	}
	ttl := c.maxAge
	if action := actionOf(x); action != nil {
		if noted, ok := action.Noted(sabir.CacheNote).(time.Duration); ok {
			ttl = noted
		}
	}
	public := c.shared && x.Caller == nil && !x.Header.Has("Authorization") && !x.Header.Has("Cookie")
	key := cacheKey{ttl, public}
	if text, ok := c.texts.Load(key); ok {
		return text.(string)
	}
	text := "private, "
	if public {
		text = "public, "
	}
	if ttl < time.Second {
		text += "no-cache"
	} else {
		text += "max-age=" + strconv.Itoa(int(ttl/time.Second))
	}
	c.texts.Store(key, text)
	return text
}

type cacheKey struct {
	ttl    time.Duration
	public bool
}

// matchesTag tells whether an If-None-Match line has the tag, by weak comparison (RFC 9110, section 8.8.3.2), or is "*". A
// malformed list matches nothing behind the fault.
func matchesTag(line, tag string) bool {
	line = strings.Trim(line, " \t")
	if line == "*" {
		return true
	}
	tag = strings.TrimPrefix(tag, "W/")
	for {
		line = strings.TrimLeft(line, " \t,")
		opaque := strings.TrimPrefix(line, "W/")
		if !strings.HasPrefix(opaque, `"`) {
			return false
		}
		end := strings.IndexByte(opaque[1:], '"')
		if end < 0 {
			return false
		}
		if opaque[:end+2] == tag {
			return true
		}
		line = strings.TrimLeft(opaque[end+2:], " \t")
		if line != "" && line[0] != ',' {
			return false
		}
	}
}
