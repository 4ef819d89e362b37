package com.depot.api;

import java.io.Serializable;

public abstract class Shape implements Serializable {
    public String name;

    public static class Circle extends Shape {
        public double radius;
    }

    public static class Square extends Shape {
        public int side;
    }
}
