// Package dubbo makes a node a provider and a consumer of Apache Dubbo: Java programs call its services as those of a Dubbo provider, by
// their interfaces, and it calls theirs by name. Nobody on the other side changes a line. One option of the node does it:
//
//	sabir.NewNode(sabir.Serve(orders), dubbo.Bridge(dubbo.Config{
//		Serve: map[string][]dubbo.Interface{"dubbo://:20880": {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}},
//		References: map[string][]dubbo.Interface{"dubbo://10.0.0.9:20880": {{Name: "com.shop.StockService", Service: "stock", Methods: []dubbo.Method{{Name: "reserve"}}}}},
//	}))
//
// It speaks the protocols dubbo:// (Dubbo2) and tri:// (Triple), with Hessian 2 for values: see package codec/hessian for what Go types are in
// Java. Triple carries streams and messages of Protocol Buffers too, and a port that serves it takes calls in JSON over HTTP.
//
// # Arguments
//
// A method of Java has its arguments in order, an action has one input. The exported fields of a struct are the arguments in their order,
// or by number where fields have the tag dubbo:"1". The input itself is the argument where it is no struct; where it is a struct without
// such tags, and the one parameter of the method is a class other than Java's own (or a map), so that its fields are those of the object.
//
// docs/bridges.md says what is carried, what is not, and how to move a service.
package dubbo
