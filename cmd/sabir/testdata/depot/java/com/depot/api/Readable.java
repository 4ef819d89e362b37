package com.depot.api;

public interface Readable<T, K> {
    T read(K key);
}
