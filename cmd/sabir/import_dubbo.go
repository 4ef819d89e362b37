package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/gofile"
	"github.com/sabir-go/sabir/internal/javaclass"
	"github.com/sabir-go/sabir/internal/names"
)

func (c *cli) importDubboCommand() *cobra.Command {
	var file, pkg, version, group string
	var wanted []string
	command := &cobra.Command{
		Use:   "dubbo <jar or registry>... [flags]",
		Short: "Write Go types and contracts for interfaces of Apache Dubbo",
		Long: `Reads compiled interfaces of Java, and the classes that they name, from jars: that of
the interfaces, and those with further classes. It writes a Go package with a struct
or an enum for each class, registered for Hessian under its name in Java, a contract
for each method, an error for each exception that is declared, and a function for each
interface that gives the table of its methods to References, Discover and Serve of
dubbo.Config. Nothing of Java is needed or run.

A jar of Spring Boot or a .war is read with the libraries in it. Without --interface
the interfaces are those of the program, not those of the libraries.

Without a jar, the definitions that providers publish in a registry are read: those
in ZooKeeper by its address, zookeeper://host:2181, others from files that end with
.json. They say less than classes: the notes tell what is missing. The version
and the group are those of the definition.

Overloads are actions that have the types of their parameters in their names. What Go
cannot say as Java does is a note in the package and on stderr. Import all interfaces
that share classes in one run: a class can be registered once in a program.`,
		Example: `  sabir import dubbo shop-api.jar --interface com.shop.OrderService=orders --version 1.0.0 -o shop/shop.go
  sabir import dubbo shop-api.jar shop-model.jar --package shop -o shop/shop.go
  sabir import dubbo shop-api.jar --interface com.shop.OrderService --interface com.shop.StockService --group eu
  sabir import dubbo zookeeper://10.0.0.9:2181 --interface com.shop.OrderService=orders -o shop/shop.go`,
		Args: takes(1, -1, "a jar with interfaces, or the address of a registry"),
		RunE: func(command *cobra.Command, args []string) error {
			classes := make(javaclass.Classes)
			published := &publishedDefinitions{classes: classes, version: version, group: group, read: make(map[string][]javaclass.Definition)}
			ctx, cancel := context.WithTimeout(command.Context(), c.timeout)
			defer cancel()
			for _, from := range args {
				var err error
				switch {
				case strings.HasPrefix(from, zooKeeperScheme):
					err = published.addZooKeeper(ctx, from, interfaceNames(wanted))
				case strings.HasSuffix(from, ".json"):
					err = published.addFile(from)
				default:
					if err = classes.ReadJar(from); err != nil {
						err = failf("%w", err)
					}
				}
				if err != nil {
					return err
				}
			}
			interfaces, err := dubboInterfaces(classes, wanted)
			if err != nil {
				return err
			}
			for i := range interfaces {
				d, err := published.of(interfaces[i].Name)
				if err != nil {
					return err
				}
				interfaces[i].Version, interfaces[i].Group = cmp.Or(version, d.Version), cmp.Or(group, d.Group)
			}
			var text bytes.Buffer
			actions, notes, err := gofile.WriteDubbo(&text, classes, interfaces, pkg)
			if err != nil {
				return failf("%w", err)
			}
			for _, note := range notes {
				fmt.Fprintln(c.stderr, "note:", note)
			}
			if file == "" {
				_, err := c.stdout.Write(text.Bytes())
				return err
			}
			return c.writeGenerated(file, text.Bytes(), actions)
		},
		DisableFlagsInUseLine: true,
	}
	flags := command.Flags()
	flags.StringArrayVar(&wanted, "interface", nil, "an interface to import, and with = the name of its service (default all, as services of their names); may be repeated")
	flags.StringVar(&version, "version", "", "the version of the interfaces")
	flags.StringVar(&group, "group", "", "their group")
	flags.StringVar(&pkg, "package", gofile.DefaultPackage, "the name of the package")
	flags.StringVarP(&file, "output", "o", "", "the file to write (default stdout); one that says the same already is left as it is")
	flags.SortFlags = false
	return command
}

// interfaceNames are the interfaces that are wanted, without the names of their services.
func interfaceNames(wanted []string) (names []string) {
	for _, text := range wanted {
		name, _, _ := strings.Cut(text, "=")
		names = append(names, name)
	}
	return names
}

// dubboInterfaces are the interfaces that are wanted; all where none is named.
func dubboInterfaces(classes javaclass.Classes, wanted []string) ([]gofile.DubboInterface, error) {
	if len(wanted) == 0 {
		for _, name := range slices.Sorted(maps.Keys(classes)) {
			if c := classes[name]; c.Interface && !c.Library && len(c.Methods) > 0 && !strings.Contains(name, "$") {
				wanted = append(wanted, name)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, failf("there is no interface with methods in it, besides those of jars within: name one of these with --interface")
	}
	var list []gofile.DubboInterface
	services := make(map[string]string)
	for _, text := range wanted {
		name, service, named := strings.Cut(text, "=")
		if c := classes[name]; c != nil && c.Fault != nil {
			return nil, failf("%w", c.Fault)
		} else if c == nil || !c.Interface {
			return nil, failf("there is no interface %s in it: want its full name, such as com.shop.OrderService", name)
		}
		if short := name[strings.LastIndexAny(name, ".$")+1:]; !named {
			service = strings.ToLower(short[:1]) + short[1:]
		}
		if fault := names.Fault(service); fault != "" {
			return nil, usagef("the name %q of the service %s: give it another, as in --interface %s=orders", service, fault, name)
		}
		if other := services[service]; other != "" {
			return nil, usagef("%s and %s are both the service %s: name one otherwise, as in --interface %s=orders", other, name, service, name)
		}
		services[service] = name
		list = append(list, gofile.DubboInterface{Name: name, Service: service})
	}
	return list, nil
}
