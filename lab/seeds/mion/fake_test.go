package mion

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeVariable makes this test program a faulty server; its arguments are the fault and the address.
const fakeVariable = "SABIR_LAB_HTTP_FAKE"

// The ways in which a fake can be wrong.
const (
	fakeGood     = "good"
	fakeCrash    = "crash"    // at once
	fakeWrong    = "wrong"    // answers hello with something else
	fakeLenient  = "lenient"  // takes every body
	fakeUnbound  = "unbound"  // runs and does not listen
	fakeMidCrash = "midcrash" // right until it is asked for hello again and again: at the start, while warm, in the first round
)

func TestMain(m *testing.M) {
	if os.Getenv(fakeVariable) != "" && len(os.Args) == 3 {
		fakeServer(os.Args[1], os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

func fakeServer(how, address string) {
	switch how {
	case fakeCrash:
		end(3, "no memory left")
	case fakeUnbound:
		time.Sleep(time.Hour) // select {} would be a deadlock for a runtime without C
	}
	var hellos atomic.Int64
	http.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		if hellos.Add(1) == 3 && how == fakeMidCrash {
			end(4, "out of hellos")
		}
		if how == fakeWrong {
			io.WriteString(w, `{"hello":"moon"}`)
			return
		}
		io.WriteString(w, `{"hello":"world"}`)
	})
	http.HandleFunc("POST /updateUser", func(w http.ResponseWriter, r *http.Request) {
		var u struct {
			ID         int       `json:"id"`
			Name       string    `json:"name"`
			Surname    string    `json:"surname"`
			LastUpdate time.Time `json:"lastUpdate"`
		}
		err := json.NewDecoder(r.Body).Decode(&u)
		bad := err != nil || u.ID < 0 || u.Name == "" || len(u.Name) > 64 || u.Surname == ""
		if bad && how != fakeLenient {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		u.LastUpdate = u.LastUpdate.Add(24 * time.Hour)
		json.NewEncoder(w).Encode(u)
	})
	if err := http.ListenAndServe(address, nil); err != nil {
		end(1, err.Error())
	}
}

func end(status int, word string) {
	fmt.Fprintln(os.Stderr, word)
	os.Exit(status)
}
