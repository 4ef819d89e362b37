package com.shop;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.RpcContext;

/** Offers OrderService at the port and by the protocol of its arguments, and TradeService by Triple, until its standard input ends. */
public class Provider implements OrderService {
    public String ping() { return "pong"; }

    public int add(int a, long b) { return (int) (a + b); }

    public Order place(Order order) {
        order.setAmount(order.getAmount() + 1);
        order.setParent(order);
        return order;
    }

    public Order find(String id, int version) { return new Order(id, version, 0.5, List.of("t")); }

    public List<Order> list(String customer, List<Integer> numbers) {
        List<Order> orders = new ArrayList<>();
        for (int number : numbers) {
            orders.add(new Order(customer, number, 0, null));
        }
        return orders;
    }

    public Map<String, Integer> count(Map<String, Integer> stock, boolean all) {
        Map<String, Integer> counted = new TreeMap<>(stock);
        counted.put("all", stock.size());
        return counted;
    }

    public BigDecimal price(BigDecimal net, Date since) { return net.add(new BigDecimal(since.getTime())); }

    public Color favourite(Color color) { return color == Color.RED ? Color.GREEN : Color.RED; }

    public String get(long id) { return "number"; }

    public String get(String id) { return "text"; }

    public byte[] bytes(byte[] data) { return data; }

    public CompletableFuture<String> later(String text) { return CompletableFuture.supplyAsync(() -> text + "er"); }

    public String attachments(String name) {
        RpcContext.getServerContext().setAttachment("seen-by", "java");
        return RpcContext.getServerAttachment().getAttachment(name) + " of " + RpcContext.getServerAttachment().getAttachment("remote.application");
    }

    public void note(String text) { System.out.println("note = " + text); }

    public String fail(String how) throws OutOfStockException {
        switch (how) {
            case "input": throw new IllegalArgumentException("no such id");
            case "state": throw new IllegalStateException("closed");
            case "declared": throw new OutOfStockException("none is left");
            case "cause": throw new IllegalStateException("closed", new IllegalArgumentException("no key"));
            default: throw new RuntimeException();
        }
    }

    public String slow(int milliseconds) {
        try {
            System.out.println("slow = " + milliseconds);
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            return "interrupted";
        }
        return "done";
    }

    public Object stranger() { return null; }

    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig("provider");
        application.setQosEnable(false);
        ServiceConfig<OrderService> service = new ServiceConfig<>();
        service.setInterface(OrderService.class);
        service.setRef(new Provider());
        service.setVersion("1.0.0");
        ProtocolConfig protocol = new ProtocolConfig(arguments[1], Integer.parseInt(arguments[0]));
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A")).protocol(protocol).service(service);
        if (arguments[1].equals("tri")) {
            ServiceConfig<TradeService> trades = new ServiceConfig<>();
            trades.setInterface(TradeService.class);
            trades.setRef(new TradeProvider());
            bootstrap.service(trades);
        }
        bootstrap.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        bootstrap.stop();
        System.exit(0);
    }
}
