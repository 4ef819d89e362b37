package com.shop;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.SslConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.RpcException;

/**
 * Offers OrderService with TLS and certificates of both sides until its standard input ends, or calls it: the files of its certificate, its key and the
 * authority; a protocol and a port, or a URL, or a registry, "by" and which registration is used.
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
        boolean found = arguments.length == 6;
        if (found) {
            System.setProperty("dubbo.application.service-discovery.migration", arguments[5]);
        }
        bootstrap.application(application).registry(new RegistryConfig(found ? arguments[3] : "N/A")).ssl(ssl);
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
        if (!found) {
            reference.setUrl(arguments[3] + "?ssl-enabled=true");
        }
        reference.setTimeout(20000);
        reference.setRetries(0);
        reference.setCheck(false);
        bootstrap.reference(reference).start();
        OrderService orders = reference.get();
        if (found) {
            // What a registry names is there some time after a reference that does not check for it.
            for (long end = System.nanoTime() + 60_000_000_000L; System.nanoTime() < end; Thread.sleep(20)) {
                try {
                    orders.ping();
                    break;
                } catch (RpcException e) {
                    if (!e.isNoInvokerAvailableAfterFilter() && e.getCode() != RpcException.FORBIDDEN_EXCEPTION) {
                        break;
                    }
                }
            }
        }
        Consumer.print("ping", orders::ping);
        Consumer.print("add", () -> orders.add(2, 40));
        System.out.println("end");
        System.exit(0);
    }
}
