// Command nethttp-segmentio serves hello and updateUser with net/http, segmentio's JSON and go-playground/validator.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/go-playground/validator/v10"
	"github.com/segmentio/encoding/json"

	"github.com/sabir-go/sabir/lab/http/user"
)

var rules = validator.New(validator.WithRequiredStructEnabled())

func main() {
	http.HandleFunc("GET /hello", hello)
	http.HandleFunc("POST /updateUser", updateUser)
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

const maxBody = 4 << 10

// buffers hold a request's body, and then its answer.
var buffers = sync.Pool{New: func() any { return new([maxBody]byte) }}

func hello(w http.ResponseWriter, _ *http.Request) {
	buffer := buffers.Get().(*[maxBody]byte)
	defer buffers.Put(buffer)
	answer(w, buffer, user.World)
}

func updateUser(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 || r.ContentLength > maxBody {
		http.Error(w, "the body has no length or is too large", http.StatusBadRequest)
		return
	}
	buffer := buffers.Get().(*[maxBody]byte)
	defer buffers.Put(buffer)
	body := buffer[:r.ContentLength]
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var u user.User
	if err := json.Unmarshal(body, &u); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := rules.Struct(&u); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	answer(w, buffer, u.Updated())
}

func answer(w http.ResponseWriter, buffer *[maxBody]byte, value any) {
	body, err := json.Append(buffer[:0], value, 0)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header()["Content-Type"] = jsonType
	w.Write(body)
}

var jsonType = []string{"application/json"}
