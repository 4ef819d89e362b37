package com.shop;

public enum Color { RED, GREEN }
