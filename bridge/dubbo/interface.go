package dubbo

// Interface maps an interface of Java to a service. What is called of providers needs its Methods.
type Interface struct {
	// Name is the full name of the interface: "com.shop.OrderService". It is needed.
	Name string
	// Service is the full name of the service: "orders", "v2.orders". It is needed.
	Service string
	// Version is the version of the interface. Default: none, which Dubbo writes as 0.0.0.
	Version string
	// Group is the group of the interface. Default: none.
	Group string
	// Protobuf states that the arguments and answers of the interface are messages of Protocol Buffers, as those are that Dubbo generates from a
	// .proto file. Structs are written as package codec/protobuf describes. It is for tri:// only. Actions whose input and answer are generated messages
	// need no such statement.
	Protobuf bool
	// Methods are those of the interface, which has no others then. A method that is named twice has two overloads, of which each needs Parameters.
	// Default: served, each public action of the service is the method of its name.
	Methods []Method
	// Throws has classes of exceptions, which the interface declares on Java's side, by the names of errors: an error of the name is an exception of the
	// class there, and the other way round. Java refuses classes of exceptions that it does not know.
	Throws map[string]string
}

// Method is a method of an [Interface].
type Method struct {
	// Name is the name of the method. It is needed.
	Name string
	// Action is the name of the action within its service. Default: that of the method.
	Action string
	// Parameters are the Java types of the method's parameters: "int", "java.lang.String", "com.shop.Order", "long[]"; []string{} for a method without
	// parameters. Served, they choose among overloads. Of a provider they make the call one of that method. Without them, nil, it is a generic one
	// ($invoke), for which the provider looks up the method by its name: that costs it more, and it can have no overloads.
	Parameters []string
	// Stream makes a method of a provider by tri:// a stream with any number of values both ways: StreamObserver<Out> name(StreamObserver<In>). Its
	// Parameters, which it needs only for providers that look at them, are the class of In. A served method is a stream if its action is one.
	Stream bool
	// ServerStream makes a method of a provider by tri:// a stream of answers: void name(In, StreamObserver<Out>).
	ServerStream bool
	// Callback makes a method of dubbo:// a stream of the values for one of its arguments: its action is a stream, whose input has the other arguments,
	// served and of a provider. It needs Parameters. Default: none.
	Callback *Callback
}
