package rediscache

import "github.com/sabir-go/sabir/policy"

// ReadAnswer decodes the entry under an answer's key, in a store with a limit of 100 bytes.
func ReadAnswer(data string, age uint64) policy.Entry {
	return (&actionCache{store: &Store{limit: 100}}).read(data, age)
}

// ReadCleanings decodes the hash under the key of cleanings.
func ReadCleanings(fields map[string]string) (map[string]uint64, error) {
	all, err := parse(fields)
	if err != nil {
		return nil, err
	}
	return all.last, nil
}
