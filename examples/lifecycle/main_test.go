package main

func Example() {
	main()
	// Output:
	// start:
	//    stock opens its database
	//    orders opens its database
	// add a group:
	//    mail opens its database
	//    reports opens its database
	//    mail
	// remove it:
	//    reports closes its database
	//    mail closes its database
	//    mail is gone: true
	// two versions:
	//    v1.users opens its database
	//    v2.users opens its database
	//    v1.users.ping reaches v1.users
	//    v2.users.ping reaches v2.users
	//    users.ping reaches v2.users
	// stop:
	//    v2.users closes its database
	//    v1.users closes its database
	//    orders closes its database
	//    stock closes its database
}
