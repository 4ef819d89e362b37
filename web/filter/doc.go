// Package filter has ready-made filters for the HTTP server: limits by caller, origin and rate, and the headers of answers.
//
//	sabir.HTTP("0.0.0.0:3000", web.With(web.Config{Filters: web.Filters{
//		filter.Log{},
//		filter.Secure{},
//		filter.CORS{Origins: []string{"https://app.example.com"}},
//		filter.Compress{},
//		filter.Cache{},
//		filter.RateLimit{Rate: 50, Burst: 100},
//	}}))
//
// The first is the outermost: [Log] sees what was sent, [Compress] compresses what [Cache] made an ETag of. [RateLimit] by
// principal goes behind the authentication, into AfterAuth.
//
// A filter whose settings are not sound answers every request with the error FilterMisconfigured, whose text gives the reason.
package filter
