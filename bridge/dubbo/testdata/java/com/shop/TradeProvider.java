package com.shop;

import com.google.protobuf.StringValue;

import org.apache.dubbo.common.stream.StreamObserver;

public class TradeProvider implements TradeService {
    public void watch(String article, StreamObserver<Order> to) {
        if (article.equals("fail at once")) {
            throw new IllegalArgumentException("no such article");
        }
        for (int i = 0; i < (article.equals("many") ? 5000 : 3); i++) {
            to.onNext(new Order(article, i, 0, null));
        }
        if (article.equals("fail later")) {
            to.onError(new IllegalStateException("no more"));
        } else if (!article.equals("open")) {
            to.onCompleted();
        }
    }

    public StreamObserver<String> trade(StreamObserver<Order> to) {
        return new StreamObserver<String>() {
            public void onNext(String article) {
                if (article.equals("wrong")) {
                    to.onError(new IllegalArgumentException("not this one"));
                } else {
                    to.onNext(new Order(article, 0, 0, null));
                }
            }

            public void onError(Throwable e) { System.out.println("stream = " + e.getClass().getSimpleName()); }

            public void onCompleted() { to.onCompleted(); }
        };
    }

    public StringValue greet(StringValue name) {
        if (name.getValue().isEmpty()) {
            throw new IllegalArgumentException("who is it?");
        }
        return StringValue.of("Hello, " + name.getValue());
    }

    public void names(StringValue first, StreamObserver<StringValue> to) {
        to.onNext(StringValue.of(first.getValue() + " Lovelace"));
        to.onNext(StringValue.of(first.getValue() + " Byron"));
        to.onCompleted();
    }
}
