package com.shop;

import java.io.Serializable;
import java.util.List;

public class Order implements Serializable {
    private String id;
    private int amount;
    private double total;
    private List<String> tags;
    private Order parent;

    public Order() {}

    public Order(String id, int amount, double total, List<String> tags) {
        this.id = id;
        this.amount = amount;
        this.total = total;
        this.tags = tags;
    }

    public String getId() { return id; }
    public void setId(String id) { this.id = id; }
    public int getAmount() { return amount; }
    public void setAmount(int amount) { this.amount = amount; }
    public double getTotal() { return total; }
    public void setTotal(double total) { this.total = total; }
    public List<String> getTags() { return tags; }
    public void setTags(List<String> tags) { this.tags = tags; }
    public Order getParent() { return parent; }
    public void setParent(Order parent) { this.parent = parent; }

    @Override
    public String toString() {
        return id + " x" + amount + " " + total + " " + tags + (parent == this ? " itself" : parent == null ? "" : " of " + parent.id);
    }
}
