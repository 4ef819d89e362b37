package com.shop;

import java.util.HashMap;
import java.util.Map;

import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** Offers OrderService by a registry: its address, the name of the application, the port, the mode of registering, where its metadata is, parameters; those of the names protocol and floor are its own. */
public class RegisteredProvider extends Provider {
    private final String name;

    RegisteredProvider(String name) { this.name = name; }

    @Override
    public String ping() { return "pong of " + name; }

    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig(arguments[1]);
        application.setQosEnable(false);
        application.setMetadataType(arguments[4]);
        Map<String, String> parameters = new HashMap<>();
        for (int i = 5; i < arguments.length; i++) {
            String[] pair = arguments[i].split("=", 2);
            parameters.put(pair[0], pair[1]);
        }
        String protocol = parameters.getOrDefault("protocol", "dubbo");
        parameters.remove("protocol");
        ServiceConfig<OrderService> service = new ServiceConfig<>();
        service.setInterface(OrderService.class);
        service.setRef(new RegisteredProvider(arguments[2]));
        service.setVersion("1.0.0");
        service.setParameters(parameters);
        RegistryConfig registry = new RegistryConfig(arguments[0]);
        registry.setRegisterMode(arguments[3]);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        if (parameters.remove("floor") != null) {
            ServiceConfig<FloorService> floor = new ServiceConfig<>();
            floor.setInterface(FloorService.class);
            floor.setRef(new FloorService() {
                public String who() { return arguments[2]; }

                public void watch(int number, StreamObserver<String> to) {
                    for (int i = 0; i < number; i++) {
                        to.onNext(arguments[2]);
                    }
                    to.onCompleted();
                }
            });
            bootstrap.service(floor);
        }
        bootstrap.application(application).registry(registry).protocol(new ProtocolConfig(protocol, Integer.parseInt(arguments[2]))).service(service).start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        bootstrap.stop();
        System.out.println("stopped");
        System.exit(0);
    }
}
