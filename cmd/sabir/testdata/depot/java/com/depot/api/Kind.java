package com.depot.api;

public enum Kind { SMALL, VERY_LARGE { @Override public String toString() { return "large"; } } }
