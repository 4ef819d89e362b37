package sabir

import "github.com/sabir-go/sabir/internal/option"

// nodeOptionOnce is an option of NewNode that can be given once.
func nodeOptionOnce(name string, where option.Site, apply func(*Node)) NodeOption {
	return nodeOption(func(n *Node) {
		n.optionProblem(n.given.Again(name, where))
		apply(n)
	})
}

// serviceOptionOnce is an option of NewService that can be given once.
func serviceOptionOnce(name string, where option.Site, apply func(*Service)) ServiceOption {
	return serviceOption(func(s *Service) {
		if err := s.given.Again(name, where); err != nil {
			s.problems = append(s.problems, err)
		}
		apply(s)
	})
}

// actionOptionOnce is an option of Handle that can be given once.
func actionOptionOnce(name string, where option.Site, apply func(*definition)) ActionOption {
	return actionOption(func(d *definition) {
		if err := d.given.Again(name, where); err != nil {
			d.problems = append(d.problems, err)
		}
		apply(d)
	})
}
