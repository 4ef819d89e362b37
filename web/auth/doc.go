// Package auth authenticates and authorises callers over HTTP.
//
//	node := sabir.NewNode(sabir.Serve(users), sabir.HTTP("0.0.0.0:3000", web.With(web.Config{Auth: []auth.Authenticator{
//		&auth.JWT{JWKS: "https://login.example.com/keys", Issuers: []string{"https://login.example.com"}, Audiences: []string{"users"}},
//		&auth.Key{Keys: map[string]auth.Principal{os.Getenv("BACKUP_KEY"): {Subject: "backup", Roles: []string{"reader"}}}},
//	}})))
//
//	sabir.Handle(users, "delete", deleteUser, sabir.Use(auth.Require("admin")))
//
//	func deleteUser(ctx context.Context, in DeleteUser) (sabir.Empty, error) {
//		who, _ := auth.FromContext(ctx)
//		…
//	}
//
// [JWT], [Key], [Basic], [Session] and [Certificate] are authenticators; a server asks them in their order. What
// they return is the call's [Principal]: handlers read it with [FromContext], [Require] and [RequireFunc] guard actions by it. It
// travels with the call to other nodes and into nested calls.
//
// # What a guarded action trusts
//
// A guarded action refuses every call without a principal, also one that was made in the same process: so an action that
// is guarded stays so behind a server that does not use this package. What a node does for itself, in a timer or when it
// starts, is called with [AsSystem]; what it does for a user, with [As]. Nodes of a cluster trust each other: the principal
// that one sends along is not proved again. Nothing from outside may set the metadata sabir.principal, in which it travels: servers take care of that.
package auth
