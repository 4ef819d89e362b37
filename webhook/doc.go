// Package webhook exchanges events with other systems over HTTP, as CloudEvents 1.0 that are signed by the rules of Standard Webhooks
// (standardwebhooks.com).
//
// [Deliver] has a service send events of the cluster to the addresses of others. Each delivery waits in a durable channel until its receiver has
// taken it:
//
//	hooks := sabir.NewService("hooks")
//	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Endpoints: endpoints})
//
// [Receive] takes events of others, and emits them:
//
//	sabir.HTTP(":3000", webhook.Receive("/hooks", webhook.Receiver{Secrets: secrets, Events: []string{"orders.*"}}))
//
// Both speak the structured and the binary form of CloudEvents and batches. docs/doors.md is the guide.
package webhook
