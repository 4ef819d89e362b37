package com.shop;

/** What only Dubbo2 carries: an argument that the provider calls. */
public interface PriceService {
    void listen(String article, PriceListener listener);

    /** Has Java's check of classes let Order in, which looks at this interface only. */
    Order last(String article);
}
