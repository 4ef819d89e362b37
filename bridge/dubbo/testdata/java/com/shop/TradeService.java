package com.shop;

import com.google.protobuf.StringValue;

import org.apache.dubbo.common.stream.StreamObserver;

/** What only Triple carries: streams, and messages of Protocol Buffers. */
public interface TradeService {
    void watch(String article, StreamObserver<Order> to);
    StreamObserver<String> trade(StreamObserver<Order> to);
    StringValue greet(StringValue name);
    void names(StringValue first, StreamObserver<StringValue> to);
}
