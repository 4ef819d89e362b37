package com.shop;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.SslConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/**
 * Offers OrderService with TLS and certificates of both sides until its standard input ends, or calls it: the files of its certificate, its key and the
 * authority; a protocol and a port, or a URL.
 */
public class SecureShop {
    public static void main(String[] arguments) throws Exception {
        // Netty 4.2 compares the name in the certificate, which Dubbo 3.3.6 does not tell it.
        System.setProperty("io.netty.handler.ssl.defaultEndpointVerificationAlgorithm", "NONE");
        SslConfig ssl = new SslConfig();
        ssl.setServerKeyCertChainPath(arguments[0]);
        ssl.setServerPrivateKeyPath(arguments[1]);
        ssl.setServerTrustCertCollectionPath(arguments[2]);
        ssl.setClientKeyCertChainPath(arguments[0]);
        ssl.setClientPrivateKeyPath(arguments[1]);
        ssl.setClientTrustCertCollectionPath(arguments[2]);
        ApplicationConfig application = new ApplicationConfig("secure");
        application.setQosEnable(false);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A")).ssl(ssl);
        if (arguments.length == 5) {
            ProtocolConfig protocol = new ProtocolConfig(arguments[3], Integer.parseInt(arguments[4]));
            protocol.setSslEnabled(true);
            ServiceConfig<OrderService> service = new ServiceConfig<>();
            service.setInterface(OrderService.class);
            service.setRef(new Provider());
            service.setVersion("1.0.0");
            bootstrap.protocol(protocol).service(service).start();
            System.out.println("ready");
            while (System.in.read() >= 0) {}
            System.exit(0);
        }
        ReferenceConfig<OrderService> reference = new ReferenceConfig<>();
        reference.setInterface(OrderService.class);
        reference.setVersion("1.0.0");
        reference.setUrl(arguments[3] + "?ssl-enabled=true");
        reference.setTimeout(20000);
        reference.setRetries(0);
        reference.setCheck(false);
        bootstrap.reference(reference).start();
        OrderService orders = reference.get();
        Consumer.print("ping", orders::ping);
        Consumer.print("add", () -> orders.add(2, 40));
        System.out.println("end");
        System.exit(0);
    }
}
