package com.depot.api;

import java.io.Serializable;
import java.time.LocalDate;

public class Base<T> implements Serializable {
    private static final long serialVersionUID = 1;
    public T id;
    public LocalDate since;
    public transient String cache;
}
