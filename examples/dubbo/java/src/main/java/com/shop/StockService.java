package com.shop;

/** The stock, which is a provider of this program. */
public interface StockService {
    /** Takes articles out of the stock, and returns how many are left. */
    int reserve(String article, int amount);
}
