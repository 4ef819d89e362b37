package com.depot.api;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Date;
import java.util.Set;

public class Item extends Base<Long> {
    public static class Size implements Serializable {
        public double width;
        public Float height;
    }

    public String name;
    public BigDecimal price;
    public BigInteger count;
    public Kind kind;
    public Size size;
    public Set<String> tags;
    public Integer left;
    public Date sold;
    public Item parent;
    public byte[] picture;
    public char grade = 'A';

    @Override
    public String toString() {
        return id + " " + name + " since " + since + " " + price + " " + count + " " + kind + " " + (size == null ? null : size.width + "x" + size.height) + " " + tags
            + " " + left + " " + (sold == null ? null : sold.getTime()) + " " + (parent == this ? "itself" : parent) + " " + (picture == null ? null : picture.length) + " " + grade;
    }
}
