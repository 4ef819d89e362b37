package com.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.google.protobuf.StringValue;

import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.rpc.protocol.tri.ClientStreamObserver;
import org.apache.dubbo.rpc.protocol.tri.CancelableStreamObserver;

/** Opens streams to a provider at the address of its argument, and prints what comes. */
public class TradeConsumer {
    /** Collects what comes until the end. */
    static class Collecting<T> extends CancelableStreamObserver<T> {
        final List<Object> got = new ArrayList<>();
        final CompletableFuture<String> end = new CompletableFuture<>();
        final CompletableFuture<T> first = new CompletableFuture<>();

        public void onNext(T value) {
            got.add(value instanceof StringValue ? ((StringValue) value).getValue() : value);
            first.complete(value);
        }

        public void onError(Throwable e) { end.complete(e.getClass().getName() + ": " + String.valueOf(e.getMessage()).split("\n")[0]); }

        public void onCompleted() { end.complete("completed"); }

        String all() throws Exception { return end.get(30, TimeUnit.SECONDS) + " " + got; }
    }

    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig("consumer");
        application.setQosEnable(false);
        ReferenceConfig<TradeService> reference = new ReferenceConfig<>();
        reference.setApplication(application);
        reference.setInterface(TradeService.class);
        reference.setUrl(arguments[0]);
        reference.setTimeout(20000);
        reference.setRetries(0);
        TradeService trades = reference.get();
        Consumer.print("watch", () -> {
            Collecting<Order> orders = new Collecting<>();
            trades.watch("a", orders);
            return orders.all();
        });
        for (String how : List.of("fail at once", "fail later", "panic")) {
            Consumer.print(how, () -> {
                Collecting<Order> orders = new Collecting<>();
                trades.watch(how, orders);
                return orders.all();
            });
        }
        Consumer.print("many", () -> {
            Collecting<Order> orders = new Collecting<>();
            trades.watch("many", orders);
            return orders.end.get(30, TimeUnit.SECONDS) + " " + orders.got.size();
        });
        Consumer.print("trade", () -> {
            Collecting<Order> orders = new Collecting<>();
            StreamObserver<String> articles = trades.trade(orders);
            articles.onNext("a");
            orders.first.get(30, TimeUnit.SECONDS); // comes before the next is sent
            articles.onNext("b");
            articles.onCompleted();
            return orders.all();
        });
        Consumer.print("trade with an error", () -> {
            Collecting<Order> orders = new Collecting<>();
            StreamObserver<String> articles = trades.trade(orders);
            articles.onNext("wrong");
            return orders.all();
        });
        Consumer.print("cancel", () -> {
            Collecting<Order> orders = new Collecting<>();
            StreamObserver<String> articles = trades.trade(orders);
            articles.onNext("canceled");
            orders.first.get(30, TimeUnit.SECONDS);
            orders.cancel(new RuntimeException("enough"));
            return "done";
        });
        Consumer.print("greet", () -> trades.greet(StringValue.of("Ada")).getValue());
        Consumer.print("greet nobody", () -> trades.greet(StringValue.of("")).getValue());
        Consumer.print("names", () -> {
            Collecting<StringValue> names = new Collecting<>();
            trades.names(StringValue.of("Ada"), names);
            return names.all();
        });
        Collecting<Order> last = new Collecting<>();
        StreamObserver<String> articles = trades.trade(last);
        articles.onNext("last");
        last.first.get(30, TimeUnit.SECONDS);
        System.out.println("end");
        Consumer.print("last", last::all);
        System.exit(0);
    }
}
