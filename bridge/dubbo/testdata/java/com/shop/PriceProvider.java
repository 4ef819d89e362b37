package com.shop;

import java.util.List;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ArgumentConfig;
import org.apache.dubbo.config.MethodConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** Offers PriceService at the port of its argument. It calls each listener until that fails, and prints then which article nobody listens to any more. */
public class PriceProvider implements PriceService {
    @Override
    public void listen(String article, PriceListener listener) {
        if (article.equals("none")) {
            throw new IllegalArgumentException("no such article");
        }
        new Thread(() -> {
            try {
                for (int i = 0; ; i++) {
                    listener.changed(new Order(article, i, 0, null));
                }
            } catch (RuntimeException e) {
                System.out.println("gone = " + article);
            }
        }).start();
    }

    @Override
    public Order last(String article) { return null; }

    public static void main(String[] arguments) throws Exception {
        ApplicationConfig application = new ApplicationConfig("price-provider");
        application.setQosEnable(false);
        ArgumentConfig listener = new ArgumentConfig();
        listener.setIndex(1);
        listener.setCallback(true);
        MethodConfig listen = new MethodConfig();
        listen.setName("listen");
        listen.setArguments(List.of(listener));
        ServiceConfig<PriceService> service = new ServiceConfig<>();
        service.setInterface(PriceService.class);
        service.setRef(new PriceProvider());
        service.setMethods(List.of(listen));
        service.setCallbacks(1000);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A")).protocol(new ProtocolConfig("dubbo", Integer.parseInt(arguments[0]))).service(service).start();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        bootstrap.stop();
        System.exit(0);
    }
}
