package com.depot;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

import com.depot.api.DepotService;
import com.depot.api.Item;
import com.depot.api.Kind;
import com.depot.api.NoneLeftException;
import com.depot.api.Page;
import com.depot.api.Shape;

/** With a protocol and a port, offers DepotService until its standard input ends; with a URL, calls it there and prints what comes of it. */
public class Main implements DepotService {
    public Item read(Long key) {
        Item item = new Item();
        item.id = key;
        item.since = LocalDate.of(2024, 2, 29);
        item.kind = Kind.VERY_LARGE;
        item.parent = item;
        return item;
    }

    public Item put(Item item) {
        item.name = item.toString();
        return item;
    }

    public Page<Item> search(String text, Page<Item> like) {
        like.total += like.items.size();
        like.first = like.items.get(0);
        like.first.name = text;
        return like;
    }

    public List<Shape> grow(List<Shape> shapes) {
        for (Shape shape : shapes) {
            if (shape instanceof Shape.Circle circle) {
                circle.radius *= 2;
            } else {
                ((Shape.Square) shape).side *= 2;
            }
        }
        return shapes;
    }

    public Map<Kind, Set<Integer>> sort(Map<Kind, Set<Integer>> numbers, Map<Long, String> names) {
        for (Long key : names.keySet()) {
            numbers.put(Kind.SMALL, new TreeSet<>(List.of(key.intValue())));
        }
        return numbers;
    }

    public LocalDateTime shift(LocalDateTime at, Duration by) { return at.plus(by); }

    public long[] sums(int[] first, String[] second) { return new long[] {Arrays.stream(first).sum(), String.join("", second).length()}; }

    public Integer maybe(Integer number, Boolean negative) { return number == null ? null : negative != null && negative ? -number : number; }

    public String get(String id) { return "text " + id; }

    public String get(long id) { return "number " + id; }

    public CompletableFuture<Item.Size> measure(Item.Size size) {
        size.width += size.height;
        return CompletableFuture.completedFuture(size);
    }

    public void take(String name, int amount) throws NoneLeftException { throw new NoneLeftException("no " + name); }

    public Optional<String> hint() { return Optional.empty(); }

    static void print(String name, Callable<Object> call) {
        String result;
        try {
            result = String.valueOf(call.call());
        } catch (Throwable e) {
            result = e.getClass().getName() + ": " + String.valueOf(e.getMessage()).split("\n")[0];
        }
        System.out.println(name + " = " + result);
    }

    static void consume(String url) {
        ApplicationConfig application = new ApplicationConfig("consumer");
        application.setQosEnable(false);
        ReferenceConfig<DepotService> reference = new ReferenceConfig<>();
        reference.setApplication(application);
        reference.setInterface(DepotService.class);
        reference.setVersion("1.0.0");
        reference.setUrl(url);
        reference.setTimeout(20000);
        reference.setRetries(0);
        DepotService depot = reference.get();
        print("read", () -> depot.read(7L));
        Item item = new Item();
        item.id = 1L << 40;
        item.since = LocalDate.of(2024, 2, 29);
        item.name = "tea";
        item.price = new BigDecimal("2.50");
        item.count = BigInteger.TEN.pow(30);
        item.kind = Kind.VERY_LARGE;
        item.size = new Item.Size();
        item.size.width = 1.5;
        item.size.height = 2.5f;
        item.tags = Set.of("x");
        item.left = 3;
        item.sold = new Date(86400000);
        item.parent = item;
        item.picture = new byte[] {1, 2};
        item.grade = 'B';
        print("put", () -> depot.put(item));
        Page<Item> like = new Page<>();
        like.items = List.of(item);
        print("search", () -> {
            Page<Item> page = depot.search("found", like);
            return page.total + " " + page.first.name + " " + page.items.get(0).name;
        });
        Shape.Circle circle = new Shape.Circle();
        circle.radius = 2;
        print("grow", () -> ((Shape.Circle) depot.grow(List.of(circle)).get(0)).radius);
        print("sort", () -> new TreeMap<>(depot.sort(Map.of(Kind.VERY_LARGE, Set.of(5)), Map.of(9L, "nine"))));
        print("shift", () -> depot.shift(LocalDateTime.of(2024, 2, 28, 23, 0), Duration.ofHours(2)));
        print("sums", () -> Arrays.toString(depot.sums(new int[] {1, 2}, new String[] {"a", "bc"})));
        print("maybe", () -> depot.maybe(4, true));
        print("maybe null", () -> depot.maybe(null, null));
        print("get a text", () -> depot.get("a"));
        print("get a number", () -> depot.get(8L));
        print("measure", () -> depot.measure(item.size).get().width);
        print("take", () -> {
            depot.take("tea", 2);
            return null;
        });
        System.out.println("end");
        System.exit(0);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            consume(arguments[0]);
        }
        ApplicationConfig application = new ApplicationConfig("provider");
        application.setQosEnable(false);
        ServiceConfig<DepotService> service = new ServiceConfig<>();
        service.setInterface(DepotService.class);
        service.setRef(new Main());
        service.setVersion("1.0.0");
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A")).protocol(new ProtocolConfig(arguments[0], Integer.parseInt(arguments[1]))).service(service).start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        System.exit(0);
    }
}
