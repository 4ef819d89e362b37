package sabir

import (
	"fmt"
)

// givenOptions remembers the options that can be given once only, and where each was given.
type givenOptions []givenOption

type givenOption struct {
	name  string
	where callSite
}

// again notes an option and returns the error of one that is there already; nil for the first.
func (g *givenOptions) again(name string, where callSite) error {
	for _, other := range *g {
		if other.name == name {
			return fmt.Errorf("%s: %s is given twice, and each would undo the other; the first is at %s", where, name, other.where)
		}
	}
	*g = append(*g, givenOption{name, where})
	return nil
}

// nodeOptionOnce is an option of NewNode that can be given once.
func nodeOptionOnce(name string, where callSite, apply func(*Node)) NodeOption {
	return nodeOption(func(n *Node) {
		n.optionProblem(n.given.again(name, where))
		apply(n)
	})
}

// serviceOptionOnce is an option of NewService that can be given once.
func serviceOptionOnce(name string, where callSite, apply func(*Service)) ServiceOption {
	return serviceOption(func(s *Service) {
		if err := s.given.again(name, where); err != nil {
			s.problems = append(s.problems, err)
		}
		apply(s)
	})
}

// actionOptionOnce is an option of Handle that can be given once.
func actionOptionOnce(name string, where callSite, apply func(*definition)) ActionOption {
	return actionOption(func(d *definition) {
		if err := d.given.again(name, where); err != nil {
			d.problems = append(d.problems, err)
		}
		apply(d)
	})
}

// joinOptionOnce is an option of Join that can be given once.
func joinOptionOnce(name string, where callSite, apply func(*joining)) JoinOption {
	return joinOption(func(j *joining) {
		if err := j.given.again(name, where); err != nil {
			j.problems = append(j.problems, err)
		}
		apply(j)
	})
}
