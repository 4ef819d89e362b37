package com.depot.api;

import java.io.Serializable;
import java.util.List;

public class Page<T> implements Serializable {
    public List<T> items;
    public T first;
    public int total;
}
