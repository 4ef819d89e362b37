package com.shop;

import java.math.BigDecimal;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.dubbo.remoting.http12.HttpMethods;
import org.apache.dubbo.remoting.http12.rest.Mapping;
import org.apache.dubbo.remoting.http12.rest.Param;
import org.apache.dubbo.remoting.http12.rest.ParamType;

public interface OrderService {
    String ping();
    int add(int a, long b);
    Order place(Order order);
    @Mapping(path = "/orders/{id}/{version}", method = HttpMethods.GET)
    Order find(@Param(value = "id", type = ParamType.PathVariable) String id, @Param(value = "version", type = ParamType.PathVariable) int version);
    List<Order> list(String customer, List<Integer> numbers);
    Map<String, Integer> count(Map<String, Integer> stock, boolean all);
    BigDecimal price(BigDecimal net, Date since);
    Color favourite(Color color);
    String get(long id);
    String get(String id);
    byte[] bytes(byte[] data);
    CompletableFuture<String> later(String text);
    String attachments(String name);
    void note(String text);
    String fail(String how) throws OutOfStockException;
    String slow(int milliseconds);
    Object stranger();
}
