package main

func Example() {
	main()
	// Output:
	// created @ada
	// handle (handle): handle must begin with @, got ada
	// email (email): email must be a valid email address, got ada at example.org
	// age (gte): age must be 18 or greater, got 7
	// tags[1] (max): tags[1] must be a maximum of 8 characters in length, got engineering
	// password (min): password must be at least 12 characters in length, got ***
}
