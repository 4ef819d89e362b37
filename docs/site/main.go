// Site makes a web site from the pages of docs, without network:
//
//	go run ./docs/site            # into dist/site; run it from the root of the repository
//	go run ./docs/site -o folder
//
// Each page has a sidebar, a search in the browser, links to its source, and its Markdown beside it. llms.txt lists the pages for programs.
package main

import (
	"flag"
	"fmt"
	"log"
)

func main() {
	out := flag.String("o", "dist/site", "the folder to write")
	source := flag.String("docs", "docs", "the folder of the pages")
	flag.Parse()
	pages, err := build(*source, *out)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d pages in %s\n", pages, *out)
}
