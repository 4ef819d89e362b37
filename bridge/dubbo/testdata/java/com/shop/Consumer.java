package com.shop;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.RpcException;
import org.apache.dubbo.rpc.service.EchoService;
import org.apache.dubbo.rpc.service.GenericService;

/** Calls a provider at the address of its argument as programs do, and prints what comes of each call. With a second argument, it calls once for each line of its input. */
public class Consumer {
    static <T> T refer(String url, Class<T> type, String generic, String group) {
        ApplicationConfig application = new ApplicationConfig("consumer");
        application.setQosEnable(false);
        ReferenceConfig<T> reference = new ReferenceConfig<>();
        reference.setApplication(application);
        reference.setInterface("com.shop.OrderService");
        if (generic != null) {
            reference.setGeneric(generic);
        }
        reference.setVersion("1.0.0");
        reference.setGroup(group);
        reference.setUrl(url);
        reference.setTimeout(20000);
        reference.setRetries(0);
        return reference.get();
    }

    static void print(String name, Callable<Object> call) {
        String result;
        try {
            result = String.valueOf(call.call());
        } catch (Throwable e) {
            String message = String.valueOf(e.getMessage());
            result = e.getClass().getName() + ": " + message.split("\n")[0];
        }
        System.out.println(name + " = " + result);
    }

    static void idle(OrderService orders) throws Exception {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
            print(lines.nextLine(), orders::ping);
        }
        System.exit(0);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            idle(refer(arguments[0], OrderService.class, null, null));
        }
        // A lost connection is made anew as often as both say, which is once a minute as they come.
        String url = arguments[0] + "?heartbeat=5000&dubbo.application.least-reconnect-duration=1000";
        OrderService orders = refer(url, OrderService.class, null, null);
        print("ping", orders::ping);
        print("add", () -> orders.add(2, 40));
        print("place", () -> orders.place(new Order("a", 2, 1.5, Arrays.asList("x", "y"))));
        print("find", () -> orders.find("b", 7));
        print("zero in", () -> orders.place(new Order("z", 0, -0.0, null)));
        print("zero out", () -> orders.find("minus zero", 0));
        print("shared list", () -> {
            List<String> tags = Arrays.asList("x", "y");
            Order order = new Order("a", 1, 0, tags);
            order.setParent(new Order("b", 2, 0, tags));
            Order placed = orders.place(order);
            return placed + " " + (placed.getTags() == placed.getParent().getTags() ? "of one list" : "of two lists");
        });
        print("stranger", orders::stranger);
        print("list", () -> orders.list("Ada", Arrays.asList(1, 2)));
        print("count", () -> new TreeMap<>(orders.count(Map.of("a", 1, "b", 2), true)));
        print("price", () -> orders.price(new BigDecimal("12.50"), new Date(86400000)));
        print("favourite", () -> orders.favourite(Color.GREEN));
        print("get a long", () -> orders.get(7L));
        print("get a text", () -> orders.get("7"));
        print("bytes", () -> Arrays.toString(orders.bytes(new byte[] {1, 2, 3})));
        print("later", () -> orders.later("soon").get());
        print("attachments", () -> {
            RpcContext.getClientAttachment().setAttachment("user", "Ada");
            String seen = orders.attachments("user");
            return seen + ", back " + RpcContext.getServerContext().getAttachment("seen-by");
        });
        print("note", () -> {
            orders.note("a note");
            return null;
        });
        for (String how : List.of("input", "state", "declared", "plain", "panic", "exception", "unknown class")) {
            print("fail by " + how, () -> orders.fail(how));
        }
        print("fail with a cause", () -> {
            try {
                return orders.fail("cause");
            } catch (IllegalStateException e) {
                return e + " by " + e.getCause() + " by " + e.getCause().getCause();
            }
        });
        print("slow", () -> {
            RpcContext.getClientAttachment().setAttachment("timeout", "300");
            return orders.slow(60000);
        });
        print("echo", () -> ((EchoService) orders).$echo("hello"));
        CountDownLatch all = new CountDownLatch(16);
        AtomicInteger right = new AtomicInteger();
        for (int i = 0; i < 16; i++) {
            int number = i;
            new Thread(() -> {
                for (int j = 0; j < 50; j++) {
                    if (orders.add(number, j) == number + j) {
                        right.incrementAndGet();
                    }
                }
                all.countDown();
            }).start();
        }
        all.await();
        System.out.println("threads = " + right);

        GenericService generic = refer(url, GenericService.class, "true", null);
        print("generic place", () -> {
            Map<?, ?> placed = (Map<?, ?>) generic.$invoke("place", new String[] {"com.shop.Order"},
                new Object[] {Map.of("class", "com.shop.Order", "id", "g", "amount", 1)});
            return placed.get("class") + " " + placed.get("id") + " x" + placed.get("amount") + (placed.get("parent") == placed ? " itself" : "");
        });
        print("generic get", () -> generic.$invoke("get", new String[] {"java.lang.String"}, new Object[] {"7"}));
        print("generic later", () -> generic.$invokeAsync("later", new String[] {"java.lang.String"}, new Object[] {"soon"}).get());
        print("generic favourite", () -> generic.$invoke("favourite", new String[] {"com.shop.Color"}, new Object[] {"GREEN"}));
        print("generic fail", () -> generic.$invoke("fail", new String[] {"java.lang.String"}, new Object[] {"state"}));
        OrderService other = refer(url, OrderService.class, null, "nowhere");
        print("other group", other::ping);
        System.out.println("end");
        System.in.read();
        for (int tries = 0; ; tries++) {
            try {
                RpcContext.getClientAttachment().setAttachment("timeout", "500");
                orders.ping();
                System.out.println("back = " + (tries > 0 ? "after failed calls" : "at once"));
                break;
            } catch (RpcException e) {
                if (tries == 0) {
                    System.out.println("failed");
                }
                Thread.sleep(20);
            }
        }
        System.exit(0);
    }
}
