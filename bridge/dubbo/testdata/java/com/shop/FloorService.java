package com.shop;

import org.apache.dubbo.common.stream.StreamObserver;

/** Has a call, which both protocols carry, and a stream, which only Triple does. */
public interface FloorService {
    String who();
    void watch(int number, StreamObserver<String> to);
}
