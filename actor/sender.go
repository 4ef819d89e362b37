package actor

// SystemOf is the system of who sends.
func SystemOf(from Sender) *System { return from.in() }
