// Package httpcache sets the headers by which browsers and proxies keep answers. Package web sets them on routes of cached
// actions, web/filter.Cache on whatever it stands around; it lies here so that web does not bring the libraries of the other
// filters into programs that use none.
package httpcache

import (
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/etag"
	"github.com/sabir-go/sabir/web/exchange"
)

// Headers sets the headers that say how caches may keep answers. Package web uses the zero value. It must not be copied after
// its first use.
type Headers struct {
	// Shared lets proxies keep the answers to callers without an identity.
	Shared bool
	// MaxAge counts for actions that have no cache of their own; 0 makes others ask anew each time.
	MaxAge time.Duration

	texts sync.Map // of cacheKey, the Cache-Control text; as many as there are cached actions
}

// After is the method of an [exchange.Filter]: see web/filter.Cache, which documents what it does.
func (h *Headers) After(x *exchange.Exchange) {
	if x.Method != "GET" && x.Method != "HEAD" {
		return
	}
	status := x.Status
	if status == 0 {
		status = 200
	}
	if status != 200 {
		if status >= 400 && !x.Answer.Has("Cache-Control") {
			x.Answer.Add("Cache-Control", "no-store") // some statuses are kept by default (section 15.1)
		}
		return
	}
	tag := x.Answer.Get("ETag")
	if tag == "" {
		tag = bodyTag(x)
		x.Answer.Add("ETag", tag)
	}
	if !x.Answer.Has("Cache-Control") {
		x.Answer.Add("Cache-Control", h.control(x))
	}
	for line := range x.Header.All("If-None-Match") {
		if etag.Matches(line, tag, false) {
			x.Status, x.Type, x.Out = 304, "", x.Out[:0]
			x.Answer.Delete("Content-Encoding")
			return
		}
	}
}

// bodyTag is a strong tag: answers with the same tag have the same bytes, but for one chance in 2^64.
func bodyTag(x *exchange.Exchange) string {
	var buffer [18]byte
	sum := xxhash.Sum64(x.Out)
	buffer[0], buffer[17] = '"', '"'
	for i := range 16 {
		buffer[16-i] = "0123456789abcdef"[sum>>(4*i)&15]
	}
	return string(buffer[:])
}

// control is the value of Cache-Control by the action's cache setting.
func (h *Headers) control(x *exchange.Exchange) string {
	if x.Answer.Has("Set-Cookie") {
		return "no-store"
	}
	ttl := h.MaxAge
	if action := actionOf(x); action != nil {
		if noted, ok := action.Annotation(gateway.CacheNote).(time.Duration); ok {
			ttl = noted
		}
	}
	public := h.Shared && x.Principal == nil && !x.Header.Has("Authorization") && !x.Header.Has("Cookie")
	key := cacheKey{ttl, public}
	if text, ok := h.texts.Load(key); ok {
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
	h.texts.Store(key, text)
	return text
}

type cacheKey struct {
	ttl    time.Duration
	public bool
}

// actionOf is the action that the server found for the request; nil where the route is none of ours.
func actionOf(x *exchange.Exchange) *sabir.Action {
	if route, ok := x.Route.(interface{ Action() *sabir.Action }); ok {
		return route.Action()
	}
	return nil
}
