package web

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// completeLinks gives the links of a page, which a handler writes as "<?cursor=…>" because it does not know the address that it
// answers at, all else of the request's query. They stay relative, so that they hold behind proxies and prefixes too. For a request
// that cannot be repeated as a link they are left out.
func (rc *requestContext) completeLinks() {
	if !rc.Answer.Has("Link") {
		return
	}
	read := (rc.Method == http.MethodGet || rc.Method == http.MethodHead) && rc.to.binder != nil
	var links []string
	for link := range rc.Answer.All("Link") {
		rest, relative := strings.CutPrefix(link, "<?")
		query, parameters, whole := strings.Cut(rest, ">")
		switch {
		case !relative || !whole:
			links = append(links, link)
		case read:
			links = append(links, "<?"+replaced(rc.Query, query)+">"+parameters)
		}
	}
	rc.Answer.Delete("Link")
	for _, link := range links {
		rc.Answer.Add("Link", link)
	}
}

// replaced is a query with the parameters of another in place of its own of these names.
func replaced(query, by string) string {
	all, _ := url.ParseQuery(query) // what cannot be read the handler has not seen either
	others, _ := url.ParseQuery(by)
	maps.Copy(all, others)
	return all.Encode()
}
