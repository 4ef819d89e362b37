package exchange

// Scheme describes the credentials that an authenticator reads, in the terms of OpenAPI.
type Scheme struct {
	Type        string `json:"type"`             // "http", for the Authorization header, "apiKey" or "mutualTLS"
	Scheme      string `json:"scheme,omitempty"` // of "http": "bearer", "basic"
	Format      string `json:"format,omitempty"` // of "bearer": "JWT"
	In          string `json:"in,omitempty"`     // of "apiKey": "header" or "cookie"
	Name        string `json:"name,omitempty"`   // of "apiKey": that of the header or cookie
	Description string `json:"description,omitempty"`
}
