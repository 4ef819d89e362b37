package com.stock.api;

import java.util.List;
import java.util.Map;

/** What an interface has that is read from its definition in a registry. */
public interface StockService {
    Box find(String code, int least);
    List<Box> search(Map<String, Integer> wanted);
    Box.Place move(Box box, Box.Place to);
    Box.Size measure(Box.Size size);
    void clear();
}
