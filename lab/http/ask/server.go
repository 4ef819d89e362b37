// Package ask makes the requests to the HTTP servers of the lab and checks their answers. The program that makes the load uses
// it, and so do the tables, which state with it under which paths a server has its actions.
package ask

// The actions of all servers.
const (
	Hello      = "hello"      // a GET without a body; answers {"hello":"world"}
	UpdateUser = "updateUser" // a POST of a user; answers it with its date moved on by a day
)

// GoodBody is the body of updateUser under load.
const GoodBody = `{"id":1,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`

// Server describes a server as far as requests and the check of answers depend on it.
type Server struct {
	Hello  string   `json:"hello,omitempty"`  // path and query, if they are not /hello
	Update string   `json:"update,omitempty"` // path, if it is not /updateUser
	Lax    bool     `json:"lax,omitempty"`    // does not validate: it takes every body that is JSON
	Lets   []string `json:"lets,omitempty"`   // bad bodies, by what they have, that it lets through although it validates
}

// Path is the address of an action.
func (s Server) Path(action string) string {
	switch {
	case action == Hello && s.Hello != "":
		return s.Hello
	case action == UpdateUser && s.Update != "":
		return s.Update
	}
	return "/" + action
}
