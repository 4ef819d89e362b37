package com.shop;

public class OutOfStockException extends Exception {
    public OutOfStockException(String message) { super(message); }
}
