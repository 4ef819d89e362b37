// Site makes a web site from the pages of docs, without network:
//
//	go run ./docs/site            # into dist/site; run it from the root of the repository
//	go run ./docs/site -o folder
//	go run ./docs/site -versions released      # and the last release of each minor version, by the repository's tags
//	go run ./docs/site -versions v0.2.1,v0.1.4 # and these
//
// Each page has a sidebar, a search in the browser, links to its source and to the same page of other versions, and its Markdown beside it. llms.txt lists the pages for programs.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", "dist/site", "the folder to write")
	source := flag.String("docs", "docs", "the folder of the pages")
	versions := flag.String("versions", "", `tags whose pages are built too, with commas between them, or "released" for the last of each minor version`)
	flag.Parse()
	tags := strings.FieldsFunc(*versions, func(r rune) bool { return r == ',' })
	if *versions == "released" {
		all, err := tagsOf(filepath.Dir(filepath.Clean(*source)))
		if err != nil {
			log.Fatal(err)
		}
		tags = released(all)
	}
	pages, err := build(*source, *out, tags...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d pages in %s\n", pages, *out)
}
