// Command nethttp serves hello and updateUser with net/http, encoding/json and go-playground/validator. Its arguments are
// the address and, for cold starts, how many more routes there are.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/lab/http/user"
)

var rules = validator.New(validator.WithRequiredStructEnabled())

func main() {
	http.HandleFunc("GET /hello", hello)
	http.HandleFunc("POST /updateUser", updateUser)
	if len(os.Args) > 2 {
		more, err := strconv.Atoi(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		for i := range more {
			http.HandleFunc(fmt.Sprintf("POST /users%d/{id}/update", i), updateUser)
		}
	}
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(user.World)
}

func updateUser(w http.ResponseWriter, r *http.Request) {
	var u user.User
	if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := rules.Struct(&u); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(u.Updated())
}
