package com.shop;

import java.util.Scanner;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;

/** Passes a callback for each line of its input to the provider at the address of its argument, and prints what the callbacks get. The callback of "refuse" throws. */
public class PriceConsumer {
    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig("price-consumer");
        application.setQosEnable(false);
        ReferenceConfig<PriceService> reference = new ReferenceConfig<>();
        reference.setApplication(application);
        reference.setInterface(PriceService.class);
        reference.setUrl(arguments[0]);
        reference.setTimeout(3000);
        reference.setRetries(0);
        PriceService prices = reference.get();
        System.out.println("ready");
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
            String article = lines.nextLine();
            Consumer.print("listen " + article, () -> {
                prices.listen(article, order -> {
                    System.out.println(article + " = " + order);
                    if (article.equals("refuse")) {
                        throw new IllegalStateException("no more");
                    }
                });
                return "done";
            });
        }
        System.exit(0);
    }
}
