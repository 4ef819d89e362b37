// Package route is the REST forms of actions: patterns such as GET /users/{id}, and where the fields of an input come from.
package route

// Route is a REST form of an action. [New] makes it; one that came from elsewhere, as JSON, is as good as its sender.
type Route struct {
	Method  string  `json:"method"`
	Pattern string  `json:"pattern"`          // "/users/{id}"; "{path...}" at the end takes the rest
	Params  []Param `json:"params,omitempty"` // first those of the path, in its order
	Body    bool    `json:"body,omitempty"`   // the fields that are no Params come from a JSON body
	// Form is the fields that come from a form (application/x-www-form-urlencoded or multipart/form-data) where the body is one;
	// the JSON body has them otherwise. nil for a route that takes no forms.
	Form []Param `json:"form,omitempty"`
	// Open marks an input whose fields are not known, such as map[string]any, in a route without a body: each query
	// parameter becomes a field of its name, as text.
	Open bool `json:"open,omitempty"`
}

// Param is a field of the input that does not come from the body.
type Param struct {
	Name     string `json:"name"` // in the path, the query, or the name of the header or cookie
	In       Source `json:"in"`
	Field    string `json:"field"` // the JSON name of the input's field
	Kind     Kind   `json:"kind"`
	List     bool   `json:"list,omitempty"` // repeated, of Kind
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"` // tagged `sabir:"secret"`: errors do not repeat its value
}

// Source is the part of the request that a parameter comes from.
type Source string

// The sources, with OpenAPI's names.
const (
	Path   Source = "path"
	Query  Source = "query"
	Header Source = "header"
	Cookie Source = "cookie"
	Form   Source = "form"
)

// Kind is the kind of JSON that a parameter's text becomes.
type Kind string

// The kinds.
const (
	Text    Kind = "text" // also times and whatever is a string in JSON
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean" // "true", "false"
)
