package com.depot.api;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** What an interface of Dubbo may have. */
public interface DepotService extends Readable<Item, Long> {
    Item put(Item item);
    Page<Item> search(String text, Page<Item> like);
    List<Shape> grow(List<Shape> shapes);
    Map<Kind, Set<Integer>> sort(Map<Kind, Set<Integer>> numbers, Map<Long, String> names);
    LocalDateTime shift(LocalDateTime at, Duration by);
    long[] sums(int[] first, String[] second);
    Integer maybe(Integer number, Boolean negative);
    String get(String id);
    String get(long id);
    CompletableFuture<Item.Size> measure(Item.Size size);
    void take(String name, int amount) throws NoneLeftException;
    Optional<String> hint();
    static void helper() {}
}
