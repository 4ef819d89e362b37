package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxProfile bounds the time that a profile or a trace may last.
const maxProfile = 2 * time.Minute

// serveProfile answers as package net/http/pprof does. That package is not imported, since it registers itself at the default mux of
// net/http, where a program may serve the internet.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch name := r.PathValue("profile"); name {
	case "":
		listProfiles(w)
	case "profile":
		record(w, r, pprof.StartCPUProfile, pprof.StopCPUProfile)
	case "trace":
		record(w, r, trace.Start, trace.Stop)
	default:
		writeProfile(w, r, name)
	}
}

func listProfiles(w http.ResponseWriter) {
	names := []string{"profile?seconds=30", "trace?seconds=1"}
	for _, p := range pprof.Profiles() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "Profiles, for go tool pprof; ?debug=1 shows one as text:\n\n%s\n", strings.Join(names, "\n"))
}

func writeProfile(w http.ResponseWriter, r *http.Request, name string) {
	p := pprof.Lookup(name)
	if p == nil {
		http.Error(w, "no such profile", http.StatusNotFound)
		return
	}
	level, _ := strconv.Atoi(r.URL.Query().Get("debug"))
	if level > 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	_ = p.WriteTo(w, level) // the caller may have gone
}

// record lets a profile run for the seconds that the request names, 30 by default, and ends it early when the caller goes or the node stops.
func record(w http.ResponseWriter, r *http.Request, start func(io.Writer) error, stop func()) {
	last := 30 * time.Second
	if text := r.URL.Query().Get("seconds"); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		last = time.Duration(seconds * float64(time.Second))
		if err != nil || seconds <= 0 || seconds > maxProfile.Seconds() {
			http.Error(w, fmt.Sprintf("seconds must be above 0, and at most %.0f", maxProfile.Seconds()), http.StatusBadRequest)
			return
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(last + 30*time.Second)) // instead of the server's
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := start(w); err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer stop()
	ctx, cancel := context.WithTimeout(r.Context(), last)
	defer cancel()
	<-ctx.Done()
}
