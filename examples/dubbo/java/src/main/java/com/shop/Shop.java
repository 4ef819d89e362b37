package com.shop;

import java.util.HashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** The stock, a provider of Dubbo, and a customer who orders from the service of Go. Arguments: the port of the orders, and that of the stock. */
public class Shop implements StockService {
    private final Map<String, Integer> stock = new HashMap<>(Map.of("tea", 10));

    @Override
    public synchronized int reserve(String article, int amount) {
        int left = stock.getOrDefault(article, 0) - amount;
        if (left < 0) {
            throw new IllegalStateException("not enough " + article);
        }
        stock.put(article, left);
        return left;
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF); // Dubbo logs much, each refused order with its stack too
        String orderPort = arguments.length > 0 ? arguments[0] : "20880";
        int stockPort = Integer.parseInt(arguments.length > 1 ? arguments[1] : "20881");
        ApplicationConfig application = new ApplicationConfig("java");
        application.setQosEnable(false);
        ServiceConfig<StockService> stock = new ServiceConfig<>();
        stock.setInterface(StockService.class);
        stock.setRef(new Shop());
        ReferenceConfig<OrderService> reference = new ReferenceConfig<>();
        reference.setInterface(OrderService.class);
        reference.setUrl("dubbo://orders.test:" + orderPort);
        reference.setCheck(false); // the orders may come later
        reference.setRetries(0); // an order is placed once
        DubboBootstrap.getInstance().application(application).registry(new RegistryConfig("N/A"))
            .protocol(new ProtocolConfig("dubbo", stockPort)).service(stock).reference(reference).start();
        System.out.println("started");
        OrderService orders = reference.get();
        place(orders, 3);
        place(orders, 30);
        Thread.currentThread().join();
    }

    /** Places an order, again where the orders are not there yet, or have not found the stock yet. */
    private static void place(OrderService orders, int amount) throws InterruptedException {
        while (true) {
            try {
                System.out.println(orders.place("tea", amount));
                return;
            } catch (IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
                return;
            } catch (RuntimeException e) {
                System.err.println(e.getMessage());
                Thread.sleep(500);
            }
        }
    }
}
