package com.stock.api;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Date;
import java.util.List;

public class Box implements Serializable {
    public static class Size implements Serializable {
        public double width;
        public Float height;
    }

    public enum Place { SHELF, FLOOR }

    public String code;
    public Integer left;
    public BigDecimal price;
    public Size size;
    public Place place;
    public Date since;
    public List<Box> parts;
    public byte[] picture;
}
