package main

func Example() {
	main()
	// Output:
	// POST /users/create {"name":"Ada","email":"ada@example.org"}
	//   200 OK: {"id":7,"name":"Ada"}
	// POST /users/create {"name":"","email":"ada"}
	//   422 Unprocessable Entity: ValidationFailed: the input of users.create is not valid: name: name is a required field; email: email must be a valid email address
	//   fields to mend: 2
	// POST /users/create {"name":7}
	//   400 Bad Request: BadInput: the input of users.create cannot be read: json: at /name: want string, got number (offset 8)
	// POST /users/creat {}
	//   404 Not Found: ActionNotFound: no action has the address "/users/creat"; did you mean /users/create?
	// POST /users/purge {}
	//   404 Not Found: ActionNotFound: no action has the address "/users/purge"
}
