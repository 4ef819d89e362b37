// Package kubernetes keeps leases, and other small states, in the Lease objects of Kubernetes (coordination.k8s.io/v1), so that a cluster of
// nodes in Kubernetes needs no broker for them.
//
// Importing it registers the driver of kubernetes://:
//
//	s, err := store.Open(ctx, "kubernetes://")                    // in a pod: its API server, its namespace, its service account
//	s, err := store.Open(ctx, "kubernetes://127.0.0.1:8001/shop") // over "kubectl proxy", in the namespace shop
//
// Parts of the address, all of them optional:
//
//   - host:port is the API server. Default: that of the pod. Over https, but on a loopback address, where kubectl proxy listens, over http.
//   - /namespace is where the objects are. Default: that of the pod, else "default".
//   - ?prefix= begins the names of the objects. Default: sabir.
//   - ?token= and ?ca= are files with the bearer token and the certificates of the authority. Default: those of the pod's service account, if
//     they are there. The token is read for each request, as Kubernetes replaces it within the hour. store.Config.TLS goes before ?ca=.
//
// The service account needs the verbs get, create and patch of leases in its namespace, and list and delete for what is tidied up; see
// docs/leases.md.
//
// # How it works
//
// A state is one object, named by the prefix, the kind and a hash of the key. Its annotations hold the key and the state, in base64 where it is no text. Its version is
// metadata.resourceVersion, an integer that grows with each write to the API server's storage and is never used again; each write names
// the version that it replaces, and the API server refuses it with 409 if there is another. The field holderIdentity has the name of the
// store's Config, for "kubectl get leases". A state that was deleted stays as an object with the label sabir.dev/gone for a day: a store that is opened removes up to
// 500 of those.
//
// Each write goes through the API server to all of etcd, so this is for leases, jobs of the clock and a handful of small states, not for grains that save
// often. A state has at most 128 KiB.
package kubernetes
