package com.shop;

public interface PriceListener {
    void changed(Order order);
}
