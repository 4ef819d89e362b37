package com.shop;

// doc: interface
/** The orders, which are a service of Go. */
public interface OrderService {
    String place(String article, int amount);
}
// end
