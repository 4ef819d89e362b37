//go:build validator_novalidatefn

package validate

const callsMethods = false
