package com.depot.api;

public class NoneLeftException extends Exception {
    public NoneLeftException(String message) { super(message); }
}
