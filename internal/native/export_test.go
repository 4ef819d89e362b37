package native

// ForgetSchemas empties the table that AddSchema fills, so that tests do not depend on each other.
func ForgetSchemas() {
	foreign.Lock()
	defer foreign.Unlock()
	clear(foreign.schemas)
	clear(foreign.translations)
}
