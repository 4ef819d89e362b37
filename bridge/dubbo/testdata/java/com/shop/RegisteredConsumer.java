package com.shop;

import java.util.Scanner;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** Calls the providers that a registry names, once for each line of its standard input: its address, and which registration is used. */
public class RegisteredConsumer {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("dubbo.application.service-discovery.migration", arguments[1]);
        ApplicationConfig application = new ApplicationConfig("registered-consumer");
        application.setQosEnable(false);
        ReferenceConfig<OrderService> reference = new ReferenceConfig<>();
        reference.setInterface(OrderService.class);
        reference.setVersion("1.0.0");
        reference.setTimeout(3000);
        reference.setRetries(0);
        reference.setCheck(false);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig(arguments[0])).reference(reference).start();
        OrderService orders = reference.get();
        System.out.println("ready");
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
            String line = lines.nextLine();
            Consumer.print(line, () -> line.equals("place") ? orders.place(new Order("a", 2, 1.5, null)) : orders.ping());
        }
        System.exit(0);
    }
}
